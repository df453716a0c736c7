import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  processesOf,
  processesRunning,
  RunningCommand,
  readProc,
  shellCommand,
} from '../support/processes.js';
import { Scratch } from '../unit/replay/files.js';

describe('the output of foldstep run', function () {
  this.timeout(120_000);
  const scratch = new Scratch();
  after(() => scratch.remove());

  /** Prints lines without end; a rank that is told to end says nothing of it. */
  const endless = scratch.write('endless.mjs', "for (;;) console.log('a line');");
  const endlessErrors = scratch.write('endless-errors.mjs', "for (;;) console.error('a line');");

  it('ends the job with 141 and without a word when its reader has gone', () => {
    const command = `${shellCommand('run', '-n', '2', endless)} | head -1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
    expect(stdout).to.equal('a line\n141\n');
    expect(stderr).to.equal('');
    expect(processesOf(endless)).to.deep.equal([]);
  });

  it('ends it so as well when the reader was that of errors, or the other end of a socket', async () => {
    for (const [script, stream] of [
      [endless, 'stdout'],
      [endlessErrors, 'stderr'],
    ] as const) {
      const command = new RunningCommand(['run', '-n', '2', script]);
      command.child[stream]!.once('data', () => command.child[stream]!.destroy());
      expect(await command.ended).to.equal(141);
      expect(command[stream === 'stdout' ? 'stderr' : 'stdout']).to.equal('');
      expect(processesOf(script)).to.deep.equal([]);
    }
  });

  it('says so when it cannot be written', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync('sh', ['-c', shellCommand('run', '-n', '2', endless)], {
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    expect(status).to.equal(1);
    expect(stderr).to.equal(
      'foldstep run: standard output could not be written (ENOSPC); the job ended with exit code 1\n',
    );
  });

  it('holds every line of every rank, whole and in order, up to the last before a sudden end', () => {
    // From far below to far above what a pipe or the supervisor holds at once.
    const script = scratch.write(
      'lines.mjs',
      `import { existsSync, writeFileSync } from 'node:fs';
const rank = process.env.OMPI_COMM_WORLD_RANK;
const done = (rank) => import.meta.dirname + '/printed-' + rank;
const lengths = [0, 10, 200, 5000, 70_000, 300_000];
for (let i = 0; i < 120; i++) console.log(rank + ' ' + i + ' ' + rank.repeat(lengths[i % lengths.length]));
writeFileSync(done(rank), '');
setInterval(() => [0, 1, 2].map(done).every(existsSync) && process.kill(process.pid, 'SIGKILL'), 10);`,
    );
    const file = `${scratch.folder}/lines`;
    execFileSync('bash', ['-c', `${shellCommand('run', '-n', '3', script)} 2>/dev/null > '${file}' || true`]);
    const seen = [0, 0, 0];
    const lengths = [0, 10, 200, 5000, 70_000, 300_000];
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    for (const line of lines) {
      const [rank, number, rest] = line.split(' ') as [string, string, string];
      expect(Number(number)).to.equal(seen[Number(rank)]!++);
      expect(rest === rank.repeat(lengths[Number(number) % 6]!)).to.equal(true);
    }
    expect(seen).to.deep.equal([120, 120, 120]);
  });

  it('holds all of what a rank prints before it exits', () => {
    const script = scratch.write('exits.mjs', "console.log('x'.repeat(3_000_000)); process.exit(3);");
    for (const ranks of ['1', '2']) {
      const command = `${shellCommand('run', '-n', ranks, script)} 2>/dev/null | (sleep 1; wc -l -c)`;
      const [lines, bytes] = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim().split(/\s+/);
      // Of two ranks the launcher ends one when the other has exited.
      expect(Number(lines)).to.be.at.least(1);
      expect(Number(bytes)).to.be.at.least(3_000_001);
    }
  });

  it('waits for a slow reader without filling the memory', async () => {
    const script = scratch.write(
      'many.mjs',
      `import { writeFileSync } from 'node:fs';
const line = 'x'.repeat(1000);
for (let i = 0; i < 30_000; i++) console.log(line);
writeFileSync(import.meta.dirname + '/done-' + process.env.OMPI_COMM_WORLD_RANK, '');`,
    );
    const command = new RunningCommand(['run', '-n', '2', script]);
    command.child.stdout!.pause();
    let supervisor: number | undefined;
    while (supervisor === undefined || processesRunning(/node$/, script).length < 3) {
      [supervisor] = processesRunning(/foldstep-launch$/, script);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // Long enough for ranks that nothing stops to print their 60 MB.
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(Number(/VmHWM:\s*(\d+) kB/.exec(readProc(supervisor, 'status'))![1])).to.be.below(16 * 1024);
    expect(existsSync(`${scratch.folder}/done-0`)).to.equal(false);
    command.child.stdout!.resume();
    expect(await command.ended).to.equal(0);
    expect(command.stdout.length).to.equal(2 * 30_000 * 1001);
  });

  it('shows a question that no line feed follows', async () => {
    const script = scratch.write(
      'question.mjs',
      "process.stdout.write('name? '); setInterval(() => {}, 1000);",
    );
    const command = new RunningCommand(['run', '-n', '2', script]);
    await command.hasSaid('name? ', 2);
    command.child.kill('SIGTERM');
    expect(await command.ended).to.equal(143);
  });

  it("keeps the order of a rank's output and errors where both go to one place", () => {
    const script = scratch.write(
      'both.mjs',
      "for (let i = 0; i < 100; i++) { console.log('out', i); console.error('err', i); }",
    );
    const command = `${shellCommand('run', '-n', '1', script)} 2>&1 | cat`;
    const expected = Array.from({ length: 100 }, (_, i) => `out ${i}\nerr ${i}\n`).join('');
    expect(execFileSync('sh', ['-c', command], { encoding: 'utf8' })).to.equal(expected);
  });

  it('is a terminal to every rank where it is one', () => {
    const script = scratch.write(
      'terminal.mjs',
      'console.log(JSON.stringify([process.stdout.isTTY, process.stderr.isTTY]));',
    );
    const command = shellCommand('run', '-n', '2', script);
    const shown = execFileSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' });
    expect(shown.trim().split(/\r?\n/)).to.deep.equal(['[true,true]', '[true,true]']);
  });
});
