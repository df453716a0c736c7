import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';

describe('copies of parameters on four ranks', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(4, 'copies-four');
  });

  it('of experts average gradients of 1, 3, 5 and 9 along the axes that do not cut them', () => {
    const ranks = values<{ seen: Record<string, number[]>; trained: string }[]>(outcomes['copiesOfExperts']);
    for (const [rank, results] of ranks.entries()) {
      expect(results).to.have.length(12);
      for (const [i, { seen, trained }] of results.entries()) {
        // Two micro-batches. tp 2 and dp 2: half of the sum over edp of 1/tp times the means, 2 and 7. 400 elements.
        expect(seen['etp']).to.deep.equal([4.5, 4.5 * 20]);
        // dp 4 and the mean 4.5 of all four.
        expect(seen['ep']).to.deep.equal([2.25, 2.25 * 20]);
        expect(seen['native ep and etp']).to.deep.equal([2.25, 2.25 * 20]);
        // Ranks 0 and 1 hold one half, 2 and 3 the other, which no other rank has: twice 2/4 and 7/4, 200 elements of each.
        const half = rank < 2 ? 1 : 3.5;
        expect(seen['native etp']![0]).to.equal(half);
        expect(seen['native etp']![1]).to.be.closeTo(Math.sqrt(200 * (1 + 3.5 ** 2)), 1e-12);
        expect(trained).to.equal(ranks[0]![i]!.trained);
      }
    }
  });

  it('of experts are mirrored as they are averaged: the lanes by 2 and the means of two', () => {
    for (const [rank, mirrored] of values(outcomes['mirroredCopies']).entries()) {
      const mean = rank < 2 ? 2 : 7;
      expect(mirrored).to.deep.equal([[mean / 2], [mean / 2]]);
    }
  });
});
