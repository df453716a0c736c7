import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { foldstep } from '../support/job.js';
import { processesOf, RunningCommand, readProc, until } from '../support/processes.js';
import { Scratch } from '../unit/replay/files.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const index = JSON.stringify(`${root}dist/index.js`);

/** A script whose ranks have met; `body` then runs on each, with `device` there. */
function script(body: string): string {
  return `import { init } from ${index};
const device = await init();
await device.world.barrier();
${body}`;
}

describe('foldstep run', function () {
  this.timeout(120_000);
  const scratch = new Scratch();
  after(() => scratch.remove());

  const start = (name: string, source: string, ranks = 2, ...args: string[]) =>
    foldstep(['run', '-n', String(ranks), scratch.write(`${name}.mjs`, source), ...args]);

  it('ends with 0 and a clean standard error where every rank ends well', async () => {
    for (const ranks of [1, 2, 4]) {
      const ended = await start('well', script("console.log(device.rank + '/' + device.size);"), ranks);
      expect(ended.stderr).to.equal('');
      expect(ended.code).to.equal(0);
      const ranksSeen = ended.stdout.trim().split(/\s+/).sort();
      expect(ranksSeen).to.deep.equal(Array.from({ length: ranks }, (_, rank) => `${rank}/${ranks}`));
    }
  });

  it('prints no colours into a file or pipe, unless it is asked to', async () => {
    const file = scratch.write('colours.mjs', script("console.log({ rank: device.rank, a: 'text' });"));
    const args = ['run', '-n', '2', file];
    const { FORCE_COLOR, NO_COLOR } = process.env;
    delete process.env['FORCE_COLOR'];
    delete process.env['NO_COLOR'];
    try {
      const terminal = { TERM: 'xterm-256color' };
      const plain = await foldstep(args, terminal);
      expect(plain.stdout).to.contain("a: 'text'").and.not.to.contain('\u001b');
      const coloured = await foldstep(args, { ...terminal, FORCE_COLOR: '1' });
      expect(coloured.stdout).to.contain('\u001b[');
    } finally {
      if (FORCE_COLOR !== undefined) process.env['FORCE_COLOR'] = FORCE_COLOR;
      if (NO_COLOR !== undefined) process.env['NO_COLOR'] = NO_COLOR;
    }
  });

  it("gives a thrown error of one rank, and that rank's code, and ends the ranks that wait for it", async () => {
    const ended = await start(
      'throws',
      script("if (device.rank === 1) throw new Error('what went wrong');\nawait device.world.barrier();"),
    );
    expect(ended.code).to.equal(1);
    expect(ended.stderr).to.contain('what went wrong');
    expect(ended.stderr).not.to.match(/mpirun|MPI_ABORT|-----/);
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL'] as const) {
    it(`leaves no process and no shared segment behind when it gets ${signal}`, async () => {
      const file = scratch.write(
        `${signal}.mjs`,
        script("console.log('ready');\nsetInterval(() => {}, 1000);"),
      );
      const command = new RunningCommand(['run', '-n', '3', file]);
      await command.hasSaid('ready', 3);
      const running = processesOf(file);
      expect(running).to.have.length.of.at.least(4);
      const segments = new Set(running.flatMap(sharedSegmentsOf));
      command.child.kill(signal);
      expect(await command.ended).to.equal({ SIGTERM: 143, SIGINT: 130, SIGKILL: 'SIGKILL' }[signal]);
      await until(() => processesOf(file).length === 0);
      expect([...segments].filter((segment) => existsSync(segment))).to.deep.equal([]);
    });
  }

  it('refuses a script that is not there, and a number of ranks that is none', async () => {
    const absent = await foldstep(['run', '-n', '2', '/absent.js']);
    expect(absent.code).to.equal(2);
    expect(absent.stderr).to.contain('INVALID_ARGUMENT: there is no script /absent.js');
    expect((await foldstep(['run', '-n', '0', 'x.js'])).code).to.equal(2);
    expect((await foldstep(['run', 'x.js'])).code).to.equal(2);
  });

  it('says how to get a launcher where there is none, and runs one rank all the same', async () => {
    const file = scratch.write('alone.mjs', script('console.log(device.size);'));
    const many = await foldstep(['run', '-n', '2', file], { PATH: scratch.folder });
    expect(many.code).to.equal(1);
    expect(many.stderr).to.match(/LAUNCH_FAILED: there is no mpirun .*apt-get install openmpi-bin/);
    const one = await foldstep(['run', '-n', '1', file], { PATH: scratch.folder });
    expect(one).to.deep.equal({ code: 0, stdout: '1\n', stderr: '' });
  });
});

/** Named files in shared memory that a process has mapped. */
function sharedSegmentsOf(pid: string): string[] {
  return readProc(pid, 'maps').match(/\/dev\/shm\/\S+$/gm) ?? [];
}
