import { expect } from 'chai';
import { init } from '#lib/device/init.js';
import { job, type Outcome, values } from '../support/job.js';
import { bigramTraining, lossesOf } from './train-bigram.js';

describe('the training loop on four ranks', () => {
  let outcomes: Record<string, Outcome[]>;
  let alone: number[];

  before(async () => {
    outcomes = await job(4, 'example/train-scenarios');
    const device = await init({ launcher: 'none' });
    const { trainer, optimizer } = await bigramTraining(device);
    alone = await lossesOf(trainer, 20);
    optimizer.dispose();
    device.dispose();
  });

  // FP32 sums in another order: a weight may round to the BF16 next to it, which is 2^-8 of it away, and few do.
  for (const scenario of ['fourDataRanks', 'twoLanesByTwoDataRanksOverlapped']) {
    it(`gives the losses of one rank, the same on all ranks: ${scenario}`, () => {
      const [first, ...others] = values<number[]>(outcomes[scenario]);
      for (const other of others) expect(other).to.deep.equal(first);
      expect(first).to.have.length(20);
      for (const [i, loss] of first!.entries()) expect(loss).to.be.closeTo(alone[i]!, 1e-4);
    });
  }

  it('evaluates to the mean over ranks: (0 + 1 + 2 + 3) / 4', () => {
    expect(values(outcomes['meanOfAnEvaluation'])).to.deep.equal([1.5, 1.5, 1.5, 1.5]);
  });

  it('samples the same text on every rank, though their logits differ', () => {
    expect(values(outcomes['sampleOfRanksThatDiffer'])).to.deep.equal(['>aaa', '>aaa', '>aaa', '>aaa']);
  });
});
