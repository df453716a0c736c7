import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';
import type { Refusal } from '../support/refusal.js';

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

  it('must be loaded with the same values, along every axis that holds them', () => {
    for (const [rank, { refusals, steps }] of values<{ refusals: Refusal[]; steps: number }>(
      outcomes['loadsOfCopies'],
    ).entries()) {
      expect(refusals.map(({ parameter }) => parameter)).to.deep.equal([
        'dense',
        'lanes',
        'owners',
        'owners',
      ]);
      // Dense: all ranks. Lanes are cut over tp: 0 with 2, 1 with 3. Owners over ep: 0 with 2, 1 with 3.
      const pairs = [
        [0, 3],
        [0, 2],
        [0, 2],
        [1, 3],
      ];
      for (const [i, { code, message, peer }] of refusals.entries()) {
        const [first, other] = pairs[i]!;
        expect(code).to.equal('PARAMETERS_DIFFER');
        expect(message).to.match(
          new RegExp(`^rank ${other} loaded other values into parameter \\w+ than rank ${first},`),
        );
        expect(peer).to.equal(rank === other ? first : other);
      }
      expect(steps).to.equal(1);
    }
  });

  it('and counts that differ in one pipeline stage are told to the other', () => {
    const results = values<{ counts: Refusal; loads: Refusal; gradNorm: number }>(outcomes['otherStage']);
    for (const [rank, { counts, loads, gradNorm }] of results.entries()) {
      expect(counts).to.include({ code: 'GRADIENT_MISSING', parameter: 'second', rank });
      expect(counts.message).to.match(
        /^rank 2 accumulated parameter second 1 time since .*, rank 3 2 times;/,
      );
      expect(loads).to.include({ code: 'PARAMETERS_DIFFER', parameter: 'first', rank });
      expect(loads.message).to.match(/^rank 1 loaded other values into parameter first than rank 0,/);
      // Four elements of 1 and four of 2.
      expect(gradNorm).to.equal(Math.sqrt(20));
    }
  });
});
