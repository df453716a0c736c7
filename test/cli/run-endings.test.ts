import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { foldstep } from '../support/job.js';
import { Scratch } from '../unit/replay/files.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const cli = JSON.stringify(`${root}dist/cli/main.js`);

describe('what foldstep run says of a job that failed', function () {
  this.timeout(120_000);
  const scratch = new Scratch();
  after(() => scratch.remove());

  /** Rank 1 runs `fault`, before `init` or after all have met; the others wait for it. */
  const script = (when: 'before' | 'after', fault: string) => `
const culprit = process.env.OMPI_COMM_WORLD_RANK === '1';
if (culprit && ${when === 'before'}) { ${fault} }
const { init } = await import(${JSON.stringify(`${root}dist/index.js`)});
const device = await init({ deadlineMs: ${when === 'before' ? 3000 : 20_000} });
await device.world.barrier();
if (culprit) { ${fault} }
await device.world.barrier();`;

  for (const [name, when, fault, code, said] of [
    [
      'killed',
      'after',
      "process.kill(process.pid, 'SIGKILL');",
      137,
      /rank 1 was killed by SIGKILL; the job ended with exit code 137 \(SIGKILL\)/,
    ],
    ['exits', 'after', 'process.exit(3);', 3, /rank 1 exited with code 3; the job ended with exit code 3/],
    ['exits-early', 'before', 'process.exit(3);', 3, /rank 1 exited with code 3/],
    // The other gives up at its deadline.
    ['ends-early', 'before', 'process.exit(0);', 1, /rank 1 had ended with exit code 0/],
  ] as const) {
    it(`names the rank and its end where one ${name.replace('-', ' ')}`, async () => {
      const file = scratch.write(`${name}.mjs`, script(when, fault));
      const ended = await foldstep(['run', '-n', '2', file]);
      expect(ended.stderr).to.match(said);
      expect(ended.code).to.equal(code);
    });
  }

  it('names one rank too, which has no launcher', async () => {
    const file = scratch.write('alone.mjs', "process.kill(process.pid, 'SIGKILL');");
    expect(await foldstep(['run', '-n', '1', file])).to.deep.equal({
      code: 137,
      stdout: '',
      stderr: 'foldstep run: rank 0 was killed by SIGKILL; the job ended with exit code 137 (SIGKILL)\n',
    });
  });

  it('is where it was started, if that is inside a rank', async () => {
    const file = scratch.write(
      'nested.mjs',
      `import { spawnSync } from 'node:child_process';
for (const args of process.env.OMPI_COMM_WORLD_RANK === '0' ? [['run', '-n', '1', 'x.mjs'], ['doctor']] : []) {
  if (args[0] === 'run') args[3] = import.meta.filename ?? process.argv[1];
  const { status, stdout, stderr } = spawnSync(process.execPath, [${cli}, ...args], { encoding: 'utf8' });
  console.log(args[0] + ' ' + status + ' ' + stdout + stderr);
}`,
    );
    const { code, stdout } = await foldstep(['run', '-n', '2', file]);
    expect(code).to.equal(0);
    const inside =
      'no job can be started inside a rank, and this process is inside one (OMPI_COMM_WORLD_RANK is 0)';
    const outside = 'start it from a shell outside of every job';
    expect(stdout).to.contain(`run 1 foldstep: LAUNCH_FAILED: ${inside}; ${outside}\n`);
    expect(stdout).to.match(/doctor 0 /);
    expect(stdout).to.contain(inside).and.to.contain(`-> ${outside}\n`);
    expect(stdout).not.to.contain('apt-get install openmpi');
  });

  it('holds no control character of a name', async () => {
    const { code, stderr } = await foldstep(['run', '-n', '2', '/no\u001b[31m\u009bsuch.mjs']);
    expect({ code, stderr }).to.deep.equal({
      code: 2,
      stderr: 'foldstep: INVALID_ARGUMENT: there is no script /no\\u{001b}[31m\\u{009b}such.mjs\n',
    });
    expect((await foldstep(['\u001b[31m'])).stderr).to.contain("unknown command '\\u{001b}[31m'");
  });
});
