import { expect } from 'chai';
import { errors, job, type Outcome, values } from '../support/job.js';
import type { Refusal } from '../support/refusal.js';

describe('what two ranks agree on before a step', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(2, 'step-agreement-two');
  });

  it('is how often each parameter was accumulated: both are told both counts, and can go on', () => {
    type Result = { refusals: Refusal[]; untouched: number; gradNorm: number };
    for (const [rank, results] of values<Result[]>(outcomes['unequalCounts']).entries()) {
      expect(results).to.have.length(5);
      for (const { refusals, untouched, gradNorm } of results) {
        expect(refusals).to.have.length(2);
        for (const { message, ...details } of refusals) {
          expect(details).to.deep.equal({
            code: 'GRADIENT_MISSING',
            parameter: 'gate.weight',
            rank,
            peer: 1 - rank,
          });
          expect(message).to.match(
            /^rank 0 accumulated parameter gate\.weight 1 time since the last step, rank 1 2 times; nothing has been done/,
          );
        }
        expect(untouched).to.equal(0);
        // Four elements of 1 + 1.
        expect(gradNorm).to.equal(4);
      }
    }
  });

  it('is that neither of them finds anything wrong, that both step, and at one rate', () => {
    const [first, second] = values<{ refusals: Refusal[]; masters: number[] }>(outcomes['objections']);
    const missing = /gradient of parameter b was not accumulated since the last step, and others were/;
    const rate = /learningRate must be a finite number from 0; .* it is NaN/;
    const rates = /rank 0 has 0\.5, rank 1 has 1; nothing has been done/;
    const calls = /rank 0 calls reduce\(\) and rank 1 calls step\(\); nothing has been done/;
    const expected = [
      ['GRADIENT_MISSING', missing, 1, 'step'],
      ['GRADIENT_MISSING', missing, 1, 'reduce'],
      ['INVALID_ARGUMENT', rate, 0, 'step'],
      ['PARAMETERS_DIFFER', rates, undefined],
      ['OPERATION_MISMATCH', calls, undefined],
    ] as const;
    for (const [i, [code, text, objector, call]] of expected.entries()) {
      for (const [rank, { refusals }] of [first!, second!].entries()) {
        expect(refusals[i]!.code).to.equal(code);
        expect(refusals[i]!.message).to.match(text);
        if (objector === undefined || rank === objector) continue;
        expect(refusals[i]).to.include({ rank, peer: objector });
        expect(refusals[i]!.message).to.match(new RegExp(`^rank ${objector} cannot ${call}: `));
      }
    }
    for (const { masters } of [first!, second!]) expect(masters).to.deep.equal([-0.5, -0.5, -0.5, -0.5]);
  });

  it('is what was loaded into copies, before the first step and before every later one', () => {
    type Result = { refused: Refusal; untouched: number }[];
    for (const [rank, results] of values<Result[]>(outcomes['loads']).entries()) {
      expect(results).to.have.length(3);
      for (const result of results) {
        for (const { refused } of result) {
          expect(refused).to.include({ code: 'PARAMETERS_DIFFER', parameter: 'a', rank, peer: 1 - rank });
          expect(refused.message).to.match(
            /both hold copies of the same elements: load the same on both; nothing/,
          );
        }
        expect(result.map(({ untouched }) => untouched)).to.deep.equal([0, 1, 2]);
        const texts = result.map(({ refused }) => refused.message);
        expect(texts[0]).to.match(/^rank 1 loaded other values into parameter a than rank 0/);
        expect(texts[1]).to.match(/^rank 0 loaded parameter a after step 1, rank 1 before the first step/);
        expect(texts[2]).to.match(/^rank 1 loaded other values into parameter a than rank 0/);
      }
    }
  });

  it('holds where the values are the same, as FP32 or as BF16, and where a wrong load was mended', () => {
    const [first, second] = values<string[]>(outcomes['sameLoads']);
    expect(first).to.have.length(3);
    expect(second).to.deep.equal(first);
  });

  it('is nothing that pipeline stages differ in: 1 micro-batch of 4 elements, 2 of 8', () => {
    for (const norm of values<number>(outcomes['stagesApart'])) expect(norm).to.equal(Math.sqrt(4 + 8 * 4));
  });

  it('stops a stage without elements where another misses a gradient', () => {
    const results = values<{ missing: Refusal; gradNorm: number }>(outcomes['stageWithoutElements']);
    for (const [rank, { missing, gradNorm }] of results.entries()) {
      expect(missing).to.include({ code: 'GRADIENT_MISSING', parameter: 'a', rank });
      expect(gradNorm).to.equal(4);
    }
  });

  it('is told by the deadline where one of them waits in an accumulate that the other does not make', async () => {
    const [stepping, accumulating] = errors((await job(2, 'counts-two'))['onceMore']);
    // Whose deadline is over first may have left before the other's is.
    for (const error of [stepping, accumulating]) {
      expect(error!.code).to.be.oneOf(['DEADLINE_EXCEEDED', 'PEER_EXITED']);
    }
    expect(stepping).to.include({ rank: 0, peer: 1 });
    expect(stepping!.message).to.match(
      /^before a step, to which all ranks must come with as many micro-batches, this one with 1: /,
    );
    expect(accumulating).to.include({ rank: 1, peer: 0 });
  });
});
