import type { Device } from '#lib/device/device.js';
import { sampleText } from '../../examples/glm4-moe/train/sample.js';
import { bigramTraining, lossesOf } from './train-bigram.js';

// What four ranks run for train-ranks.test.ts.

export async function fourDataRanks(device: Device): Promise<number[]> {
  const { trainer, optimizer } = await bigramTraining(device);
  const losses = await lossesOf(trainer, 20);
  optimizer.dispose();
  return losses;
}

export async function twoLanesByTwoDataRanksOverlapped(device: Device): Promise<number[]> {
  const { trainer, optimizer } = await bigramTraining(device, {
    mesh: { tp: 2, ep: 4 },
    microbatches: 2,
    optimizer: { zeroStage: 2 },
    trainer: { overlap: true },
  });
  const losses = await lossesOf(trainer, 20);
  optimizer.dispose();
  return losses;
}

/** Each rank's own loss is its rank. */
export async function meanOfAnEvaluation(device: Device): Promise<number> {
  const { trainer, model, optimizer } = await bigramTraining(device);
  model.loss = async () => device.rank;
  const loss = await trainer.evaluate([{ ids: new Int32Array(2), sequences: 1, length: 2 }]);
  optimizer.dispose();
  return loss;
}

/** Each rank's logits name another letter: `a` on rank 0, `b` on rank 1 and so on. */
export async function sampleOfRanksThatDiffer(device: Device): Promise<string> {
  const { model, optimizer } = await bigramTraining(device);
  model.logits = async ({ length }) => {
    const logits = new Float32Array(length * 256);
    for (let i = 0; i < length; i++) logits[i * 256 + 97 + device.rank] = 50;
    return logits;
  };
  const text = await sampleText({ device, model, prompt: '>', bytes: 3, window: 4 });
  optimizer.dispose();
  return text;
}
