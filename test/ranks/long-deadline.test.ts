import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';

describe('two ranks with a deadline of centuries, one of them late', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(2, 'long-deadline-two');
  });

  it('meet in a barrier', () => {
    expect(values(outcomes['aBarrier'])).to.have.length(2);
  });

  it('meet in a pass over shared memory', () => {
    // Rank 0 has ones and rank 1 has twos: the sum is 3 everywhere.
    const sums = [3, 3, 3, 3];
    expect(values(outcomes['aPassInAWindow'])).to.deep.equal([sums, sums]);
  });
});
