import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';

describe('operations that two ranks have prepared', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(2, 'prepared-two');
  });

  it('change the elements that they are enqueued for and no others, on every path', () => {
    type Left = Record<string, { accumulated: number[]; mirrored: number[] }>;
    for (const [rank, left] of values<Left>(outcomes['partsOfElements']).entries()) {
      expect(Object.keys(left)).to.have.length(4);
      const own = 1 + rank;
      for (const [path, { accumulated, mirrored }] of Object.entries(left)) {
        expect(accumulated, path).to.deep.equal([10, 10, 13, 13, 13, 10, 13, 13]);
        expect(mirrored, path).to.deep.equal([own, own, 3, 3, 3, own, 3, 3]);
      }
    }
  });

  it('are refused where a path needs memory that peers reach', () => {
    const reached = {
      withoutWindow: 'none',
      gradientOutside: 'none',
      accumulatorOutside: 'none',
      beyond: 'INVALID_LENGTH',
    };
    const direct = {
      ...reached,
      withoutWindow: 'PATH_UNAVAILABLE',
      gradientOutside: 'PATH_UNAVAILABLE',
    };
    for (const codes of values(outcomes['refusals'])) {
      expect(codes).to.deep.equal({
        direct,
        owner: { ...direct, accumulatorOutside: 'PATH_UNAVAILABLE' },
        exchange: reached,
        library: reached,
      });
    }
  });
});
