import { toBFloat16 } from '#lib/device/bfloat16.js';
import type { Device } from '#lib/device/device.js';
import { Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import type { FoldedOptimizerOptions } from '#lib/optimizer/options.js';
import type { ParameterSpec } from '#lib/parameters/parameter.js';
import { sgd } from '#lib/update/sgd.js';

export type Options = Partial<Omit<FoldedOptimizerOptions, 'device' | 'mesh' | 'parameters'>>;

/** An optimizer for scenarios: plain SGD with lr 1, not clipped, unless said otherwise. */
export function fold(
  device: Device,
  sizes: Omit<MeshSizes, 'world'>,
  parameters: readonly ParameterSpec[],
  options: Options = {},
): Promise<FoldedOptimizer> {
  return FoldedOptimizer.create({
    device,
    mesh: new Mesh({ world: device.size, ...sizes }),
    parameters,
    update: sgd({ lr: 1 }),
    ...options,
  });
}

/** Writes one micro-batch's local gradients, one number for every element or the elements themselves. */
export function write(
  optimizer: FoldedOptimizer,
  gradients: Record<string, number | readonly number[]>,
): void {
  for (const [name, value] of Object.entries(gradients)) {
    const target = optimizer.gradient(name);
    const numbers = Float32Array.from(
      typeof value === 'number' ? Array.from({ length: target.length }, () => value) : value,
    );
    target.set(target instanceof Float32Array ? numbers : toBFloat16(numbers));
  }
}

/** Writes and accumulates micro-batches in turn. */
export async function microbatches(
  optimizer: FoldedOptimizer,
  ...batches: Record<string, number | readonly number[]>[]
): Promise<void> {
  for (const batch of batches) {
    write(optimizer, batch);
    await optimizer.accumulate();
  }
}

/** This rank's reduced gradient of a parameter as numbers. */
export async function reduced(optimizer: FoldedOptimizer, name: string): Promise<number[]> {
  await optimizer.reduce();
  return [...optimizer.shard(name, 'accumulated').values];
}

/** The bits of an FP64, for comparing ranks. */
export function bits(value: number): string {
  return new BigUint64Array(Float64Array.of(value).buffer)[0]!.toString(16);
}

/** The bits of FP32 values. */
export function bits32(values: Float32Array): number[] {
  return [...new Uint32Array(values.slice().buffer)];
}
