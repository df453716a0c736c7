import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { CaseReport } from '#lib/replay/result.js';
import { type Finished, foldstep } from '../support/job.js';

const recorded = fileURLToPath(new URL('../../../test/fixtures/replay/midpoint', import.meta.url));

/** The case on two ranks of the simulated device, which `simulate` (FOLDSTEP_SIMULATE) makes lack something. */
function replay(path: string, simulate: string): Promise<Finished> {
  const args = ['replay', recorded, '--backend', 'simulated', '--path', path, '--json'];
  return foldstep(args, { FOLDSTEP_SIMULATE: simulate });
}

function expectPassed({ code, stdout, stderr }: Finished, paths: readonly string[]): void {
  expect(stderr).to.equal('');
  const { cases } = JSON.parse(stdout) as { cases: CaseReport[] };
  expect(cases.map(({ path }) => path)).to.deep.equal(paths);
  for (const report of cases) expect(report.passed, JSON.stringify(report)).to.equal(true);
  expect(code).to.equal(0);
}

describe('devices that do not share memory by IPC', function () {
  this.timeout(240_000);

  it("reach each other's memory over windows of NCCL", async () => {
    expectPassed(await replay('direct,owner', 'no-ipc'), ['direct', 'owner']);
  });

  it('are refused a path through memory where NCCL has no window either', async () => {
    const { code, stdout, stderr } = await replay('direct', 'no-ipc,null-window');
    expect(code).to.equal(1);
    expect(stdout + stderr).to.match(/PATH_UNAVAILABLE.*nor over NCCL: .*gives it no symmetric window/);
  });

  it('exchange messages instead where the path is left open', async () => {
    expectPassed(await replay('auto', 'no-ipc,null-window'), ['exchange']);
  });
});
