import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';
import type { Refusal } from '../support/refusal.js';

describe('a gradient that is missing, on two ranks', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(2, 'missing-two');
  });

  it('is named before anything is accumulated where neither its array nor its view was asked for', () => {
    for (const [rank, result] of values<{ refusals: Refusal[]; nothing: number[]; gradNorm: number }>(
      outcomes['neverWritten'],
    ).entries()) {
      const [all, some] = result.refusals;
      expect(all).to.include({ code: 'GRADIENT_MISSING', parameter: 'b', rank });
      expect(all!.message).to.match(/gradient of parameter b \(and of 1 other\) was never written/);
      expect(some).to.include({ code: 'GRADIENT_MISSING', parameter: 'b', rank });
      expect(some!.message).to.match(/gradient of parameter b was never written/);
      expect(result.nothing).to.deep.equal([0, 0, 0, 0]);
      // Four elements of 1, once; the arrays of the others were asked for, and are zeros.
      expect(result.gradNorm).to.equal(2);
    }
  });

  it('stops the step where others were accumulated, and the step is right when it has been', () => {
    for (const [rank, result] of values<{ refusals: Refusal[]; untouched: number[]; gradNorm: number }>(
      outcomes['notAccumulated'],
    ).entries()) {
      expect(result.refusals.map(({ code }) => code)).to.deep.equal(Array(4).fill('GRADIENT_MISSING'));
      expect(result.refusals.map(({ parameter }) => parameter)).to.deep.equal(['b', 'b', 'b', 'a']);
      expect(result.refusals[0]).to.include({ rank });
      expect(result.refusals[0]!.message).to.match(
        /parameter b \(and of 1 other\) was not accumulated since the last step, and others were/,
      );
      expect(result.untouched).to.deep.equal([0, 0]);
      // Four elements of 3 and four of 4: sqrt(36 + 64), as if nothing had been refused.
      expect(result.gradNorm).to.equal(10);
    }
  });

  it('stops a step on nothing at all: after no accumulate, and after one of an empty or exhausted list', () => {
    for (const [rank, result] of values<{ refusals: Refusal[]; untouched: number[]; decayed: number[] }>(
      outcomes['noGradientAtAll'],
    ).entries()) {
      expect(result.refusals).to.have.length(6);
      for (const refusal of result.refusals) {
        expect(refusal).to.include({ code: 'GRADIENT_MISSING', parameter: 'a', rank });
        expect(refusal.message).to.match(
          /parameter a \(and of 1 other\) was not accumulated since the last step; nothing has been done/,
        );
      }
      expect(result.untouched).to.deep.equal([0, 1, 1, 1, 1]);
      // A gradient of zeros is one: lr 0.5 and a decay of 0.5 leave 3/4 of the weights.
      expect(result.decayed).to.deep.equal([1, 0.75, 0.75, 0.75, 0.75]);
    }
  });
});
