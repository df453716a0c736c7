import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';

describe('the norm over two ranks that are tensor lanes and expert owners', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(2, 'norms-two');
  });
  const all = <T>(name: string) => values<T>(outcomes[name]);

  it('counts a replicated parameter once: 1 + one scalar 1 per expert is sqrt(3)', () => {
    for (const norm of all<number>('replicatedParameterCountsOnce'))
      expect(norm).to.be.closeTo(Math.sqrt(3), 1e-7);
  });

  it('adds squares, not norms: sums of squares 20 and 100 give sqrt(120)', () => {
    for (const norm of all<number>('squaresAreSummedOverRanks')) expect(norm).to.be.closeTo(10.9544512, 1e-7);
  });

  it('sums experts over their group: dense 3, experts 4 and 12 give 13', () => {
    for (const norm of all<number>('expertsAreSummedOverTheExpertGroup')) expect(norm).to.equal(13);
  });

  it('has the same bits on every rank, and so has the coefficient', () => {
    const [first, second] = all<string[]>('sameBitsEverywhere');
    expect(second).to.deep.equal(first);
    expect(first![0]).to.not.equal(first![1]);
  });

  it('is 0 for zero gradients, with coefficient 1 and no skipped step', () => {
    for (const result of all('zeroGradients')) {
      expect(result).to.deep.equal({ gradNorm: 0, clipCoefficient: 1, skipped: false });
    }
  });

  it('does not overflow for FP32 values near 1e20', () => {
    for (const norm of all<number>('largeValues')) expect(norm / 1e20).to.be.closeTo(Math.SQRT2, 1e-7);
  });

  it('reaches a rank that has no parameters', () => {
    for (const norms of all('rankWithoutParameters')) expect(norms).to.deep.equal([5, 4]);
  });

  it('clips what the update reads: the step is as long as min(norm, maxNorm)', () => {
    for (const [clipped, whole] of all<[number, number]>('updateReadsTheClippedGradient')) {
      expect(clipped).to.be.closeTo(2, 1e-5); // 5 * 2 / (5 + 1e-6)
      expect(whole).to.equal(5);
    }
  });

  it('reports each norm group and clips one by its own norm', () => {
    const results = all<{
      gradNorm: number;
      groupNorms: Record<string, number>;
      groupCoefficients: Record<string, number>;
      clipCoefficient: number;
      moved: number[];
    }>('groupsHaveNormsAndBoundsOfTheirOwn');
    for (const [rank, result] of results.entries()) {
      expect(result.gradNorm).to.equal(13); // sqrt(25 + 144)
      expect(result.groupNorms).to.deep.equal({ default: 5, experts: 12 });
      // The whole has 13, just over its bound by the 1e-6 in the denominator.
      expect(result.clipCoefficient).to.be.closeTo(1, 1e-7);
      expect(result.groupCoefficients['experts']).to.be.closeTo(1 / 12, 1e-7);
      const expected = [-3, -4, rank === 0 ? -1 : 0];
      for (const [i, value] of result.moved.entries()) expect(value).to.be.closeTo(expected[i]!, 1e-5);
    }
  });
});
