import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import type { CaseReport } from '#lib/replay/result.js';
import { foldstep } from '../support/job.js';
import { fixture } from '../unit/replay/files.js';

describe('every recorded case', function () {
  this.timeout(240_000);

  for (const name of readdirSync(fixture('.')).sort()) {
    it(`${name}: all paths, both correction times, ZeRO 0, 1 and 2`, async () => {
      const { code, stdout, stderr } = await foldstep([
        ...['replay', fixture(name), '--json', '--path', 'direct,owner,exchange,library'],
        ...['--correct', 'microbatch,step', '--zero', '0,1,2'],
      ]);
      expect(stderr).to.equal('');
      expect(code).to.equal(0);
      const { cases } = JSON.parse(stdout) as { cases: CaseReport[] };
      expect(cases).to.have.length(4 * 2 * 3);
      for (const { path, passed, ranksAgree, temporaryPeakBytes } of cases) {
        expect(passed).to.equal(true);
        expect(ranksAgree).to.equal(true);
        if (path === 'direct' || path === 'owner') expect(temporaryPeakBytes).to.equal(0);
        if (path === 'exchange') expect(temporaryPeakBytes).to.be.at.most(2 * 2 ** 20);
      }
      expectSameBits(cases);
    });
  }
});

/** The paths direct, owner and exchange add in one order: their norms differ in no bit, and so their errors in none. */
function expectSameBits(cases: readonly CaseReport[]): void {
  const figures = (path: string) =>
    cases
      .filter((report) => report.path === path)
      .map(({ correct, zeroStage, steps, errors, worst }) => ({ correct, zeroStage, steps, errors, worst }));
  expect(figures('owner')).to.deep.equal(figures('direct'));
  expect(figures('exchange')).to.deep.equal(figures('direct'));
}
