import type { Device } from '#lib/device/device.js';
import { Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import type { ParameterSpec } from '#lib/parameters/parameter.js';
import { sgd } from '#lib/update/sgd.js';
import { textBatches } from '../../examples/glm4-moe/train/batches.js';
import type { Batch, GradientSink, TrainableModel } from '../../examples/glm4-moe/train/model.js';
import { Trainer, type TrainerOptions } from '../../examples/glm4-moe/train/trainer.js';
import type { Options } from '../support/fold.js';

/** The smallest language model: the logits after a token are its row of `table`, plus `bias`. */
export class Bigram implements TrainableModel {
  readonly parameters: readonly ParameterSpec[];
  readonly #vocabulary: number;
  readonly #weights = new Map<string, Float32Array>();

  constructor(vocabulary: number) {
    this.#vocabulary = vocabulary;
    this.parameters = [
      { name: 'table', shape: [vocabulary, vocabulary], family: 'dense' },
      { name: 'bias', shape: [vocabulary], family: 'dense' },
    ];
  }

  setWeight(name: string, values: Float32Array): void {
    this.#weights.set(name, values);
  }

  /** Gives `bias` first and `table` by itself, as a model would that has the one before the other. */
  async backward(batch: Batch, scale: number, sink: GradientSink): Promise<number> {
    const size = this.#vocabulary;
    const table = new Float32Array(size * size);
    const bias = new Float32Array(size);
    const loss = this.#pass(batch, (token, next, probabilities, share) => {
      for (let i = 0; i < size; i++) {
        const gradient = scale * share * (probabilities[i]! - (i === next ? 1 : 0));
        table[token * size + i]! += gradient;
        bias[i]! += gradient;
      }
    });
    await sink(new Map([['bias', bias]]));
    await sink(new Map([['table', table]]));
    return loss;
  }

  async loss(batch: Batch): Promise<number> {
    return this.#pass(batch, () => {});
  }

  async logits({ ids }: Batch): Promise<Float32Array> {
    const logits = new Float32Array(ids.length * this.#vocabulary);
    for (const [i, token] of ids.entries()) logits.set(this.#logitsAfter(token), i * this.#vocabulary);
    return logits;
  }

  #logitsAfter(token: number): Float32Array {
    const bias = this.#weights.get('bias')!;
    const row = this.#weights.get('table')!.subarray(token * bias.length, (token + 1) * bias.length);
    return row.map((value, i) => value + bias[i]!);
  }

  #pass(
    { ids, sequences, length }: Batch,
    visit: (token: number, next: number, probabilities: Float64Array, share: number) => void,
  ): number {
    const share = 1 / (sequences * (length - 1));
    let loss = 0;
    for (let i = 0; i < ids.length; i++) {
      if (i % length === length - 1) continue;
      const [token, next] = [ids[i]!, ids[i + 1]!];
      const powers = Float64Array.from(this.#logitsAfter(token), Math.exp);
      const sum = powers.reduce((a, b) => a + b, 0);
      const probabilities = powers.map((power) => power / sum);
      loss -= share * Math.log(probabilities[next]!);
      visit(token, next, probabilities, share);
    }
    return loss;
  }
}

/** Eight tokens: mostly each follows the one before it, with something else in between now and then. */
export const cyclicText = Uint8Array.from({ length: 4000 }, (_, i) => (i % 11 === 0 ? (3 * i) % 8 : i % 8));
export const CYCLIC_VOCABULARY = 8;

export interface BigramTraining {
  readonly trainer: Trainer;
  readonly model: Bigram;
  readonly optimizer: FoldedOptimizer;
}

export interface BigramChoices {
  readonly mesh?: Omit<MeshSizes, 'world'>;
  readonly microbatches?: number;
  readonly optimizer?: Options;
  readonly trainer?: Partial<TrainerOptions>;
}

/** Trains a `Bigram` on `cyclicText`, 16 sequences of 12 tokens a step, from zeros; SGD with FP32 gradients and lr 2. */
export async function bigramTraining(device: Device, choices: BigramChoices = {}): Promise<BigramTraining> {
  const { microbatches = 1 } = choices;
  const mesh = new Mesh({ world: device.size, ...choices.mesh });
  const model = new Bigram(CYCLIC_VOCABULARY);
  const optimizer = await FoldedOptimizer.create({
    device,
    mesh,
    parameters: model.parameters,
    update: sgd({ lr: 1 }),
    gradientType: 'float32',
    ...choices.optimizer,
  });
  const sizes = {
    sequences: 16,
    length: 12,
    dataRanks: mesh.dp,
    dataRank: mesh.grid('dense').group(device.rank, ['dp']).index,
    microbatches,
  };
  const trainer = new Trainer({
    device,
    mesh,
    model,
    optimizer,
    batches: textBatches(cyclicText, sizes, 7),
    microbatches,
    schedule: () => 2,
    ...choices.trainer,
  });
  return { trainer, model, optimizer };
}

/** The losses of so many steps. */
export async function lossesOf(trainer: Trainer, steps: number): Promise<number[]> {
  const losses: number[] = [];
  for (let i = 0; i < steps; i++) losses.push((await trainer.step()).loss);
  return losses;
}
