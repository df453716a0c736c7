import { type Device, type FoldedOptimizer, FoldstepError, fromBFloat16, type Mesh } from 'foldstep';
import type { BatchSource } from './batches.ts';
import { GradientIntake } from './gradient-intake.ts';
import type { StepMetrics } from './metrics.ts';
import type { Batch, TrainableModel } from './model.ts';
import { meanOverRanks } from './ranks.ts';

export interface TrainerOptions {
  readonly device: Device;
  readonly mesh: Mesh;
  readonly model: TrainableModel;
  /** Has the model's parameters. Its weights become the model's, at once and after every step. */
  readonly optimizer: FoldedOptimizer;
  /** This rank's; the micro-batches of a step are of one size. */
  readonly batches: BatchSource;
  /** Of one step: its gradient is that of their mean loss. */
  readonly microbatches: number;
  /** The learning rate of a step; the first is 1. */
  readonly schedule: (step: number) => number;
  /** Accumulate gradients while the model computes those that follow: the same bits. Default false. */
  readonly overlap?: boolean;
}

/** The training loop. All ranks call the same methods in the same order. */
export class Trainer {
  readonly #options: TrainerOptions;
  readonly #gradients: GradientIntake;
  #steps = 0;

  /**
   * Throws, naming the parameter, UNKNOWN_PARAMETER where model and optimizer do not have the same ones and INVALID_SHAPE
   * where they differ in shape; INVALID_ARGUMENT for a number of micro-batches that is none.
   */
  constructor(options: TrainerOptions) {
    const { model, optimizer, microbatches, overlap = false } = options;
    if (!Number.isSafeInteger(microbatches) || microbatches < 1) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `microbatches must be a whole number from 1; it is ${microbatches}`,
      );
    }
    checkParameters(model, optimizer);
    this.#options = options;
    this.#gradients = new GradientIntake(optimizer, overlap);
    this.#handOverWeights();
  }

  /**
   * One step over all micro-batches. A gradient that is not finite makes the optimizer skip it. Throws what the model and
   * `FoldedOptimizer` throw, GRADIENT_MISSING for a gradient that the model did not give, INVALID_ARGUMENT for one it gave
   * twice.
   */
  async step(): Promise<StepMetrics> {
    const { device, mesh, model, optimizer, batches, microbatches, schedule } = this.#options;
    const begun = performance.now();
    device.temporaries.resetPeak();
    const step = this.#steps + 1;
    optimizer.learningRate = schedule(step);
    let ownLoss = 0;
    let ownTokens = 0;
    for (let microbatch = 0; microbatch < microbatches; microbatch++) {
      const batch = batches(step, microbatch);
      this.#gradients.begin();
      ownLoss += (await model.backward(batch, 1 / microbatches, this.#gradients.sink)) / microbatches;
      await this.#gradients.finish();
      ownTokens += batch.ids.length;
    }
    const { gradNorm, clipCoefficient, skipped } = await optimizer.step();
    if (!skipped) this.#handOverWeights();
    const loss = await meanOverRanks(device, ownLoss);
    this.#steps = step;
    const seconds = (performance.now() - begun) / 1000;
    return {
      step,
      loss,
      gradNorm,
      clipCoefficient,
      learningRate: optimizer.learningRate,
      skipped,
      tokensPerSecond: (ownTokens * mesh.dp) / seconds,
      seconds,
      temporaryPeakBytes: device.temporaries.peakBytes,
      residentBytes: process.memoryUsage.rss(),
    };
  }

  /** The mean loss of batches of one size, of all ranks. Each rank gives as many. Throws INVALID_ARGUMENT for none. */
  async evaluate(batches: readonly Batch[]): Promise<number> {
    const { device, model } = this.#options;
    if (batches.length === 0) throw new FoldstepError('INVALID_ARGUMENT', 'there are no batches to evaluate');
    let ownLoss = 0;
    for (const batch of batches) ownLoss += (await model.loss(batch)) / batches.length;
    return meanOverRanks(device, ownLoss);
  }

  #handOverWeights(): void {
    const { model, optimizer } = this.#options;
    for (const { name } of optimizer.parameters) model.setWeight(name, fromBFloat16(optimizer.weight(name)));
  }
}

function checkParameters(model: TrainableModel, optimizer: FoldedOptimizer): void {
  const shapes = new Map(optimizer.parameters.map(({ name, shape }) => [name, shape]));
  for (const { name, shape } of model.parameters) {
    const held = shapes.get(name);
    if (!held) throw unknown(name, 'the optimizer has no parameter');
    if (String(held) !== String(shape)) {
      throw new FoldstepError(
        'INVALID_SHAPE',
        `parameter ${name} is [${shape.join(', ')}] in the model and [${held.join(', ')}] in the optimizer; make the optimizer of the model's parameters`,
        { parameter: name },
      );
    }
    shapes.delete(name);
  }
  const [left] = shapes.keys();
  if (left !== undefined) throw unknown(left, 'the model has no parameter');
}

function unknown(parameter: string, what: string): FoldstepError {
  return new FoldstepError(
    'UNKNOWN_PARAMETER',
    `${what} ${parameter}; make the optimizer of the model's parameters`,
    { parameter },
  );
}
