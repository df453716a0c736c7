import { adamw, type Device, FoldedOptimizer, FoldstepError, init, Mesh, type Schedule, sgd } from 'foldstep';
import { configFile, hasWeights, loadWeights } from './checkpoint.ts';
import { readConfig } from './config.ts';
import { initialValues } from './initial.ts';
import { Glm4Moe } from './model/glm4-moe.ts';
import type { Settings } from './options.ts';
import { evaluationBatches, textBatches } from './train/batches.ts';
import type { Batch } from './train/model.ts';
import { declarationText, fileText, splitText } from './train/text.ts';
import { Trainer } from './train/trainer.ts';

/** The held-out loss is of as many sequences as so many steps, in batches no larger than the training's. */
const EVALUATION_STEPS = 4;

/** Everything that one rank trains with. */
export interface Job {
  readonly device: Device;
  readonly mesh: Mesh;
  readonly model: Glm4Moe;
  readonly optimizer: FoldedOptimizer;
  readonly trainer: Trainer;
  /** Where the weights are from, for people. */
  readonly weights: string;
  /** Held-out text, this rank's. */
  readonly evaluation: readonly Batch[];
  dispose(): void;
}

/** Collective over all ranks. */
export async function openJob(settings: Settings, schedule: Schedule): Promise<Job> {
  const { model: folder, tp, ep, zero, seed, microbatches } = settings;
  const device = await init({ device: settings.device });
  const mesh = new Mesh({ world: device.size, tp, ep });
  const config = readConfig(configFile(folder));
  const text = splitText(settings.text === undefined ? declarationText() : fileText(settings.text));
  checkHeldOut(text.heldOut.length, settings.length);
  for (const part of [text.train, text.heldOut, Buffer.from(settings.prompt)]) {
    checkBytes(part, config.vocabSize);
  }
  const dataRank = mesh.grid('dense').coordinate(device.rank, 'dp');
  const shared = { length: settings.length, dataRanks: mesh.dp, dataRank };
  const batches = textBatches(text.train, { ...shared, sequences: settings.batch, microbatches }, seed);
  const evaluation = evaluationBatches(text.heldOut, {
    ...shared,
    sequences: EVALUATION_STEPS * settings.batch,
    microbatches: EVALUATION_STEPS * microbatches,
  });

  const model = await Glm4Moe.create({ device, mesh, config });
  const optimizer = await FoldedOptimizer.create({
    device,
    mesh,
    parameters: model.parameters,
    update:
      settings.optimizer === 'sgd'
        ? sgd({ lr: settings.lr, momentum: 0.9, weightDecay: settings.weightDecay })
        : adamw({ lr: settings.lr, betas: [0.9, 0.95], weightDecay: settings.weightDecay }),
    maxNorm: settings.maxNorm,
    zeroStage: zero,
    gradientType: settings.gradients,
    // Of its own: what is accumulated must not wait behind the model's collectives, nor they behind it.
    stream: device.createStream(),
  });
  const stored = hasWeights(folder);
  if (stored) {
    loadWeights(folder, model, optimizer, device);
  } else {
    for (const [i, parameter] of optimizer.parameters.entries()) {
      const values = initialValues(parameter, i, config.initializerRange, seed);
      optimizer.load(parameter.name, parameter.slice(device.rank, values));
    }
  }
  const { overlap } = settings;
  const trainer = new Trainer({ device, mesh, model, optimizer, batches, microbatches, schedule, overlap });
  return {
    device,
    mesh,
    model,
    optimizer,
    trainer,
    weights: stored ? `from ${folder}` : `fresh, of seed ${seed}`,
    evaluation,
    dispose() {
      optimizer.dispose();
      model.dispose();
    },
  };
}

function checkBytes(bytes: Uint8Array, vocabulary: number): void {
  const outside = bytes.find((byte) => byte >= vocabulary);
  if (outside === undefined) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `the text or the prompt has byte ${outside}, and vocab_size is ${vocabulary}; text is bytes: make it 256`,
  );
}

function checkHeldOut(bytes: number, length: number): void {
  if (bytes >= length) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `the ${bytes} bytes of the text that are held out, 5 % of it, have no sequence of ${length}; take a longer text, or --length at most ${bytes}`,
  );
}
