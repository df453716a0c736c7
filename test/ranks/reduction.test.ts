import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';

describe('the reduction on two ranks, at every ZeRO stage, time of correction and path', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(2, 'reduction-two');
  });
  const all = <T>(name: string) => values<T[]>(outcomes[name]).flat();

  it('corrects unequal micro-batches once each: router (2,4) then (6,10) gives 11, expert 4 then 8 gives 6', () => {
    const results = all<number[]>('unequalMicrobatches');
    expect(results).to.have.length(2 * 24);
    for (const result of results) expect(result).to.deep.equal([11, 6]);
  });

  it('sums partial routers and sequence-parallel norms (1,2) and averages replicated ones (2,4): 3, the same bits', () => {
    const [first, second] = values<{ lanes: number[]; bits: number[] }[]>(outcomes['partialAndReplicated']);
    for (const [i, { lanes, bits }] of first!.entries()) {
      expect(new Set(lanes)).to.deep.equal(new Set([3]));
      expect(second![i]!.bits).to.deep.equal(bits);
    }
  });

  it('averages a sequence norm where there is no sequence parallelism', () => {
    expect(values(outcomes['sequenceNormWithoutSequenceParallelism'])).to.deep.equal([[3], [3]]);
  });

  it('reduces after the last micro-batch: data ranks with 1 and 3 give 2', () => {
    for (const result of all<number[]>('lastMicrobatchBeforeTheReduction')) expect(result).to.deep.equal([2]);
  });

  it('keeps every micro-batch: 1 + 2 + 4 + 8 + 16 = 31, at dp 1, edp 1 and edp 2', () => {
    for (const result of all<number[]>('everyMicrobatchSurvives')) expect(result).to.deep.equal([31]);
  });

  it('leaves nothing of one step in the next: accumulating 1 gives 1, and the padding adds nothing to the norm', () => {
    // dp 2: 300 dense elements of 1; the expert's eight elements are replicas of the two data ranks.
    for (const result of all('nothingIsLeftAfterAStep')) {
      expect(result).to.deep.equal([[1], Math.sqrt(308)]);
    }
  });

  it('gives the same bits whether parameters come one by one, late, or all at once', () => {
    for (const same of all<boolean>('namedInAnyOrderOrAllAtOnce')) expect(same).to.equal(true);
  });

  it('takes shapes [8], [0], [24] over two data ranks: 32 elements of 2', () => {
    for (const norm of all<number>('emptyAndOddShapes')) expect(norm).to.be.closeTo(Math.sqrt(128), 1e-12);
  });

  it('averages 1 and 1.0078125 to 1.00390625 exactly', () => {
    for (const result of all('midpointOnEveryPath')) expect(result).to.deep.equal([1.00390625]);
  });

  it('accumulates in FP32, or in BF16 where asked: 512 ones, and bf16(0.001) a thousand times', () => {
    for (const [fp32, bf16, small, smallBf16] of values<number[]>(outcomes['accumulationInBfloat16'])) {
      expect(fp32).to.equal(512);
      expect(bf16).to.equal(256);
      expect(small).to.be.closeTo(0.99945068, 1e-5);
      expect(smallBf16).to.equal(0.5);
    }
  });

  it('takes FP32 gradients on the same paths', () => {
    for (const result of all('floatGradientsTakeTheSamePaths')) expect(result).to.deep.equal([1 + 2 ** -21]);
  });

  it('mirrors the corrected gradient, rounded to even, and leaves a skipped one alone', () => {
    // 1.00390625 lies halfway between 0x3f80 (1) and 0x3f81 and goes to the even one; 5 is 0x40a0; 3 / 2 is 0x3fc0.
    for (const result of all('mirroredGradients')) {
      expect(result).to.deep.equal({ w: ['3f80'], s: ['40a0'], e: ['3fc0'], accumulated: [1.00390625] });
    }
  });

  it('leaves gradients alone where they are not mirrored', () => {
    const [first, second] = values(outcomes['gradientsAreLeftAloneWithoutMirror']);
    expect(first).to.deep.equal([['3f80'], ['3f80'], ['3f80'], ['3f80']]);
    expect(second).to.deep.equal([['3f81'], ['3f81'], ['3f81'], ['3f81']]);
  });

  it('ends with the same weights, bit for bit, at ZeRO 0 and 1', () => {
    for (const stages of values<number[][]>(outcomes['weightsByZeroStage'])) {
      expect(stages).to.have.length(12);
      for (let i = 0; i < 12; i += 3) {
        expect(stages[i + 1]).to.deep.equal(stages[i]);
        expect(new Set(stages[i]).size).to.be.above(100);
      }
    }
  });
});
