import type { Device } from '#lib/device/device.js';
import { adamw } from '#lib/update/adam.js';
import { mastersOf, smallTraining, type TrainingOptions } from './small-training.js';

// What four ranks run for variants.test.ts: one training, cut into micro-batches and overlapped in different ways.

/** Logical masters after three steps, in base64 by name, and the norms. */
export interface Variant {
  readonly masters: Record<string, string>;
  readonly norms: number[];
}

export async function microbatches(device: Device): Promise<Variant[]> {
  const variants: Variant[] = [];
  for (const microbatches of [1, 2, 4]) {
    variants.push(
      await threeSteps(device, { optimizer: { gradientType: 'float32' }, trainer: { microbatches } }),
    );
  }
  return variants;
}

/** Overlapped and not, at each ZeRO stage. */
export async function overlap(device: Device): Promise<[Variant, Variant][]> {
  const pairs: [Variant, Variant][] = [];
  for (const zeroStage of [0, 1, 2] as const) {
    const variant = (overlap: boolean) =>
      threeSteps(device, {
        optimizer: { zeroStage, update: adamw({ lr: 1e-3 }) },
        trainer: { overlap, microbatches: 2 },
      });
    pairs.push([await variant(false), await variant(true)]);
  }
  return pairs;
}

async function threeSteps(device: Device, options: TrainingOptions): Promise<Variant> {
  const { optimizer, trainer, dispose } = await smallTraining(device, { mesh: { tp: 2, ep: 4 }, ...options });
  const norms: number[] = [];
  for (let step = 0; step < 3; step++) norms.push((await trainer.step()).gradNorm);
  const masters = [...(await mastersOf(optimizer))].map(([name, { buffer }]) => [
    name,
    Buffer.from(buffer).toString('base64'),
  ]);
  dispose();
  return { masters: Object.fromEntries(masters), norms };
}
