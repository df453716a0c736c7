import type { Device } from '#lib/device/device.js';
import type { MeshSizes } from '#lib/mesh/mesh.js';
import type { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import { adamw } from '#lib/update/adam.js';
import { sgd } from '#lib/update/sgd.js';
import type { RouterDecision } from '../../examples/glm4-moe/model/routed.js';
import { collectingOptimizer } from './model-cases-support.js';
import type { Decision } from './routing-flips.js';
import { mastersOf, smallTraining, type Training } from './small-training.js';

const STEPS = 10;

/** What is compared: SGD on gradients of both types, and AdamW. */
export const MODES = {
  bfloat16: { update: sgd({ lr: 0.01 }), gradientType: 'bfloat16', rate: 0.01 },
  float32: { update: sgd({ lr: 0.01 }), gradientType: 'float32', rate: 0.01 },
  adamw: { update: adamw({ lr: 5e-5 }), gradientType: 'bfloat16', rate: 5e-5 },
} as const;
export type Mode = keyof typeof MODES;

export interface TrainingRecord {
  readonly losses: number[];
  readonly norms: number[];
  /** Logical FP32 masters after the last step, in base64. */
  readonly masters: Record<string, string>;
  /**
   * Over all steps, the sum of this rank's largest entry of `sum over ranks and micro-batches of |scale * gradient|`: what
   * rounding gradients to BF16 is relative to.
   */
  readonly magnitudes: Record<string, number>;
  /** How far the ten steps took each parameter's furthest element from where it began. */
  readonly moved: Record<string, number>;
  readonly decisions: EncodedDecision[];
}

/** What one rank's router decided in one layer of one step: base64 of FP32 scores and int32 choices. */
export interface EncodedDecision {
  readonly step: number;
  readonly layer: number;
  readonly scores: string;
  readonly choices: string;
}

/** On every ZeRO stage and in every mode, by `keyOf`. */
export async function everyStage(device: Device, mesh: Omit<MeshSizes, 'world'>) {
  const records: Record<string, TrainingRecord> = {};
  for (const zeroStage of [0, 1, 2] as const) {
    for (const mode of Object.keys(MODES) as Mode[]) {
      records[keyOf(mode, zeroStage)] = await train(device, mesh, mode, zeroStage);
    }
  }
  return records;
}

export function keyOf(mode: Mode, zeroStage: number): string {
  return `${mode}, ZeRO ${zeroStage}`;
}

export async function train(
  device: Device,
  mesh: Omit<MeshSizes, 'world'>,
  mode: Mode,
  zeroStage: 0 | 1 | 2,
): Promise<TrainingRecord> {
  const { update, gradientType, rate } = MODES[mode];
  const training = await smallTraining(device, {
    mesh,
    optimizer: { update, gradientType, zeroStage },
    trainer: { schedule: () => rate },
  });
  const magnitudes = await Magnitudes.of(device, training);
  const initial = await mastersOf(training.optimizer);
  const decisions: EncodedDecision[] = [];
  let step = 1;
  training.model.observeRouting = (decision) => decisions.push(encoded(step, decision));
  const record = { losses: [] as number[], norms: [] as number[], magnitudes: magnitudes.sums, decisions };
  for (; step <= STEPS; step++) {
    const { loss, gradNorm } = await training.trainer.step();
    record.losses.push(loss);
    record.norms.push(gradNorm);
    await magnitudes.add();
  }
  const masters = await mastersOf(training.optimizer);
  magnitudes.dispose();
  training.dispose();
  const moved = [...masters].map(([name, values]) => {
    const from = initial.get(name)!;
    return [name, values.reduce((most, value, i) => Math.max(most, Math.abs(value - from[i]!)), 0)];
  });
  return {
    ...record,
    moved: Object.fromEntries(moved),
    masters: Object.fromEntries([...masters].map(([name, values]) => [name, base64(values)])),
  };
}

/** Sums the magnitudes of a training's gradients, with the scales and groups of the gradients themselves. */
class Magnitudes {
  readonly sums: Record<string, number> = {};
  readonly #optimizer: FoldedOptimizer;

  private constructor(optimizer: FoldedOptimizer) {
    this.#optimizer = optimizer;
  }

  static async of(device: Device, { mesh, model }: Training): Promise<Magnitudes> {
    const optimizer = await collectingOptimizer(device, mesh, model);
    const backward = model.backward.bind(model);
    model.backward = (batch, scale, sink) =>
      backward(batch, scale, (gradients) => {
        for (const [name, values] of gradients)
          (optimizer.gradient(name) as Float32Array).set(values.map(Math.abs));
        return sink(gradients);
      });
    return new Magnitudes(optimizer);
  }

  /** After a step of one micro-batch. */
  async add(): Promise<void> {
    await this.#optimizer.accumulate();
    await this.#optimizer.reduce();
    for (const { name } of this.#optimizer.parameters) {
      const { values } = this.#optimizer.shard(name, 'accumulated');
      this.sums[name] = (this.sums[name] ?? 0) + values.reduce((most, value) => Math.max(most, value), 0);
    }
    await this.#optimizer.step();
  }

  dispose(): void {
    this.#optimizer.dispose();
  }
}

function encoded(step: number, { layer, scores, choices }: RouterDecision): EncodedDecision {
  return { step, layer, scores: base64(scores), choices: base64(choices) };
}

function base64(values: Float32Array | Int32Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('base64');
}

/** The elements that `base64` of a scenario holds. */
export function float32Of(text: string): Float32Array {
  return new Float32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer);
}

export function int32Of(text: string): Int32Array {
  return new Int32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer);
}

/** The decisions of a step's whole batch, from those of one lane of each data rank, in order. */
export function decisionsOf(dataRanks: readonly TrainingRecord[]): Decision[] {
  return dataRanks[0]!.decisions.map(({ step, layer }, i) => {
    const parts = dataRanks.map(({ decisions }) => decisions[i]!);
    return {
      step,
      layer,
      scores: Float32Array.from(parts.flatMap(({ scores }) => [...float32Of(scores)])),
      choices: Int32Array.from(parts.flatMap(({ choices }) => [...int32Of(choices)])),
    };
  });
}
