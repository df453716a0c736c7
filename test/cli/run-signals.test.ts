import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { processesOf, processesRunning, RunningCommand, shellCommand, until } from '../support/processes.js';
import { Scratch } from '../unit/replay/files.js';

describe('signals to foldstep run', function () {
  this.timeout(120_000);
  const scratch = new Scratch();
  after(() => scratch.remove());

  /** Says which signals come, and ends by none of them. */
  const stubborn = scratch.write(
    'stubborn.mjs',
    `for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) {
  process.on(signal, () => console.log('got ' + signal));
}
setInterval(() => {}, 1000);
console.log('ready');`,
  );
  const start = (script: string, ...options: string[]) =>
    new RunningCommand(['run', '-n', '2', ...options, script]);
  const gone = (script: string) => until(() => processesOf(script).length === 0);

  it('SIGUSR1 and SIGUSR2 reach every rank once, and the job goes on', async () => {
    const command = start(stubborn, '--grace', '0');
    await command.hasSaid('ready', 2);
    for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
      command.child.kill(signal);
      await command.hasSaid(`got ${signal}`, 2);
    }
    command.child.kill('SIGTERM');
    expect(await command.ended).to.equal(143);
    expect(command.stdout.match(/got SIGUSR\d/g)).to.have.length(4);
    expect(command.stderr).to.equal(
      'foldstep run: ranks that did not end in time after SIGTERM were killed; the job ended with exit code 143 (SIGTERM)\n',
    );
    expect(processesOf(stubborn)).to.deep.equal([]);
  });

  it('SIGUSR2 ends ranks that do not handle it, as it ends them under the launcher alone', async () => {
    const idle = scratch.write('idle.mjs', "setInterval(() => {}, 1000); console.log('ready');");
    const command = start(idle);
    await command.hasSaid('ready', 2);
    command.child.kill('SIGUSR2');
    expect(await command.ended).to.equal(140);
    expect(command.stderr).to.match(/rank \d was killed by SIGUSR2; .* exit code 140 \(SIGUSR2\)/);
  });

  it('SIGTERM leaves ranks the time of --grace to save, longer than the launcher leaves them', async () => {
    const saving = scratch.write(
      'saving.mjs',
      `import { writeFileSync } from 'node:fs';
const rank = Number(process.env.OMPI_COMM_WORLD_RANK);
process.on('SIGTERM', () => setTimeout(() => {
  writeFileSync(import.meta.dirname + '/saved-' + rank, '');
  process.exit(0);
}, rank * 2500));
setInterval(() => {}, 1000);
console.log('ready');`,
    );
    const command = start(saving, '--grace', '60');
    await command.hasSaid('ready', 2);
    command.child.kill('SIGTERM');
    expect(await command.ended).to.equal(0);
    expect(existsSync(`${scratch.folder}/saved-1`)).to.equal(true);
    expect(command.stderr).to.equal('');
  });

  it('SIGINT reaches every rank, and a second one kills them at once', async () => {
    const command = start(stubborn, '--grace', '1000');
    await command.hasSaid('ready', 2);
    command.child.kill('SIGINT');
    await command.hasSaid('got SIGINT', 2);
    // What comes within half a second is the same Ctrl-C, once more from npx.
    command.child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(command.child.exitCode).to.equal(null);
    command.child.kill('SIGINT');
    expect(await command.ended).to.equal(130);
    expect(command.stdout.match(/got SIGINT/g)).to.have.length(2);
    expect(processesOf(stubborn)).to.deep.equal([]);
  });

  it('SIGTERM ends ranks that are stopped', async () => {
    const idle = scratch.write('stopped.mjs', "setInterval(() => {}, 1000); console.log('ready');");
    const command = start(idle, '--grace', '1000');
    await command.hasSaid('ready', 2);
    // The command, and the two ranks.
    const ranks = processesRunning(/node$/, idle).filter((pid) => pid !== command.child.pid);
    expect(ranks).to.have.length(2);
    for (const pid of ranks) process.kill(pid, 'SIGSTOP');
    command.child.kill('SIGTERM');
    expect(await command.ended).to.equal(143);
  });

  it('SIGTERM ends a job whose launcher does not come to an end by itself', async () => {
    const launcher = scratch.write(
      'mpirun',
      `#!/bin/sh
if [ "$1" = --version ]; then echo 'mpirun (Open MPI) 4.1.4'; exit; fi
trap : INT TERM HUP USR2
while [ "$1" != -n ]; do shift; done
shift 2
for rank in 0 1; do OMPI_COMM_WORLD_RANK=$rank "$@" & done
wait
while :; do sleep 1; done
`,
    );
    chmodSync(launcher, 0o755);
    const idle = scratch.write('hung.mjs', "setInterval(() => {}, 1000); console.log('ready');");
    const command = new RunningCommand(['run', '-n', '2', idle], {
      PATH: `${scratch.folder}:${process.env['PATH']}`,
    });
    await command.hasSaid('ready', 2);
    command.child.kill('SIGTERM');
    expect(await command.ended).to.equal(143);
    expect(processesOf(launcher)).to.deep.equal([]);
  });

  for (const [who, program] of [
    ['the command', /node$/],
    ['its supervisor', /foldstep-launch$/],
  ] as const) {
    it(`SIGKILL to ${who} ends every rank, whatever it does with other signals`, async () => {
      const command = start(stubborn);
      await command.hasSaid('ready', 2);
      const processes = processesRunning(program, stubborn);
      process.kill(who === 'the command' ? command.child.pid! : processes[0]!, 'SIGKILL');
      expect(await command.ended).to.equal(who === 'the command' ? 'SIGKILL' : 1);
      await gone(stubborn);
    });
  }

  it('SIGKILL to the launcher ends every rank, and is named', async () => {
    const command = start(stubborn);
    await command.hasSaid('ready', 2);
    const [supervisor] = processesRunning(/foldstep-launch$/, stubborn);
    const [launcher] = readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8').split(' ');
    process.kill(Number(launcher), 'SIGKILL');
    expect(await command.ended).to.equal(137);
    expect(command.stderr).to.contain('the launcher was killed by SIGKILL');
    expect(processesOf(stubborn)).to.deep.equal([]);
  });
});

describe('standard input of foldstep run', function () {
  this.timeout(120_000);
  const scratch = new Scratch();
  after(() => scratch.remove());

  it('is left to a loop around it where the script does not read it', () => {
    const script = scratch.write('no-reader.mjs', '');
    const command = shellCommand('run', '-n', '2', script);
    const loop = `printf 'a\\nb\\nc\\n' | while read x; do echo "turn $x"; ${command}; done`;
    expect(execFileSync('sh', ['-c', loop], { encoding: 'utf8' })).to.equal('turn a\nturn b\nturn c\n');
  });

  it('is read by rank 0 alone', () => {
    const script = scratch.write(
      'reader.mjs',
      `import { readFileSync } from 'node:fs';
console.log(process.env.OMPI_COMM_WORLD_RANK + ' read ' + readFileSync(0).length);`,
    );
    // More than a pipe holds.
    const command = `head -c 1000000 /dev/zero | ${shellCommand('run', '-n', '3', script)}`;
    const said = execFileSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(said.trim().split('\n').sort()).to.deep.equal(['0 read 1000000', '1 read 0', '2 read 0']);
  });
});
