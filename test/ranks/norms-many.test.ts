import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';

describe('the norm over eight ranks', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(8, 'norms-many');
  });

  // 1 + (1 + 4) + (100 + 121 + 400 + 441) + (1 + 4) = 1073; 1 + 3 + 62 + 3 = 69; the cubes add up to 19611.
  it('counts every family once at ZeRO 0, 1 and 2: L2 32.7566787, L1 69, L3 26.9670380, maximum 21', () => {
    for (const stages of values<Record<string, number[]>>(outcomes['everyFamily'])) {
      for (const [two, one, three, infinity] of Object.values(stages)) {
        expect(two).to.be.closeTo(Math.sqrt(1073), 1e-12);
        expect(two).to.be.closeTo(32.7566787, 1e-7);
        expect(one).to.equal(69);
        expect(three).to.be.closeTo(26.967038, 1e-6);
        expect(infinity).to.equal(21);
      }
    }
  });

  it('is the same for the same logical gradient at 1, 2, 4 and 8 tensor lanes', () => {
    for (const norms of values<number[]>(outcomes['anyNumberOfLanes'])) {
      for (const norm of norms) expect(Math.abs(norm / norms[0]! - 1)).to.be.below(1e-12);
    }
  });

  it('neither overflows nor vanishes at p = 10 for elements of 1e37 and 1e-38: 16^(1/10) times as much', () => {
    for (const norms of values<number[]>(outcomes['extremeValuesAtPTen'])) {
      for (const norm of norms) expect(norm).to.be.closeTo(16 ** 0.1, 1e-6);
    }
  });

  it('has the same bits on every rank at p = 3', () => {
    expect(new Set(values<string>(outcomes['sameBits'])).size).to.equal(1);
  });
});
