import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';

describe('consolidating, on four ranks', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(4, 'consolidate-four');
  });
  const onAll = (value: unknown) => [value, value, value, value];

  for (const [where, scenario] of [
    ['tp 2, ep 2', 'WithTwoLanesAndTwoOwners'],
    ['tp 2, ep 4', 'AcrossTheLanes'],
    ['tp 4, ep 2', 'WithFourLanes'],
  ] as const) {
    it(`gives back what was loaded, bit for bit, of every family at ZeRO 0, 1 and 2 (${where})`, () => {
      expect(values(outcomes[`lost${scenario}`])).to.deep.equal(onAll([]));
    });

    it(`gives the gradient, masters and moments of training on data ranks alone, bit for bit (${where})`, () => {
      expect(values(outcomes[`other${scenario}`])).to.deep.equal(onAll([]));
    });
  }

  it('is of the pipeline stage alone', () => {
    const [first, second] = [
      [10, 10],
      [11, 11, 11],
    ];
    expect(values(outcomes['everyPipelineStageHasItsOwn'])).to.deep.equal([first, first, second, second]);
  });

  it('refuses on every rank what is not there or not ready, and goes on', () => {
    for (const { refusals, whole, stepped } of values<{
      refusals: { code: string; message: string }[];
      whole: number[];
      stepped: number[];
    }>(outcomes['whatIsRefused'])) {
      expect(refusals.map(({ code }) => code)).to.deep.equal([
        'BUSY',
        'NOT_REDUCED',
        'INVALID_ARGUMENT',
        'UNKNOWN_PARAMETER',
        'PARAMETERS_DIFFER',
        'BUSY',
        'BUSY',
      ]);
      expect(refusals[0]!.message).to.match(/parameter a is still being accumulated; await it first/);
      expect(refusals[1]!.message).to.match(/gradient of a .* await reduce\(\) first/);
      expect(refusals[4]!.message).to.match(/rank 0 has master of b, rank 3 has master of a/);
      expect(refusals[6]!.message).to.match(/a consolidation is under way; await it first/);
      expect(whole).to.deep.equal([0, 1, 2, 3, 4, 5]);
      // SGD of rate 1 on gradients of 1.
      expect(stepped).to.deep.equal([-1, 0, 1, 2, 3, 4]);
    }
  });

  it('gives a gradient from its reduction to the step, and not afterwards', () => {
    const expected = { before: [2, 2, 2, 2, 2, 2], after: 'NOT_REDUCED' };
    expect(values(outcomes['theGradientIsGoneAfterTheStep'])).to.deep.equal(onAll(expected));
  });
});

describe('consolidating, on eight ranks of tp 2, ep 2, etp 2', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(8, 'consolidate-eight');
  });

  for (const [what, scenario] of [
    ['gives back what was loaded', 'lost'],
    ['gives what training on data ranks alone gives', 'other'],
  ] as const) {
    it(`${what}, bit for bit, of every family at ZeRO 0, 1 and 2`, () => {
      expect(values(outcomes[scenario])).to.deep.equal(Array.from({ length: 8 }, () => []));
    });
  }
});
