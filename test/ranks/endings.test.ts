import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { foldstep } from '../support/job.js';

const program = (name: string) => fileURLToPath(new URL(`./programs/${name}.js`, import.meta.url));

describe('the end of a job', () => {
  it('is waited for at little cost, the rank still running is named, and the job ended in the end', async () => {
    const { code, stdout, stderr } = await foldstep(['run', '-n', '2', program('lingering')]);
    expect(code).to.equal(1);
    const { pid, ticks } = JSON.parse(stdout) as { pid: number; ticks: number };
    const waits = `foldstep: rank 0 has ended and waits for rank 1 to end; rank 1 (process ${pid}) is running`;
    expect(stderr.match(/^foldstep: rank.*/gm)).to.deep.equal([
      `${waits}; it waits 1 s more and then ends the job with code 1 (init's exitTimeoutMs)`,
      `${waits}; the job is ended with code 1`,
    ]);
    // A core is 100 ticks a second.
    expect(ticks).to.be.below(30);
  });

  for (const code of [-256, 1e10, 2 ** 32]) {
    it(`has code 1 where a rank exits in mid-run with ${code}, of which the host sees 0`, async () => {
      const job = await foldstep(['run', '-n', '2', program('exiting'), String(code)]);
      expect(job.code).to.equal(1);
    });
  }
});
