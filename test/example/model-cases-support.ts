import { fileURLToPath } from 'node:url';
import type { Device } from '#lib/device/device.js';
import { Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import { SafetensorsFile } from '#lib/safetensors/file.js';
import { sgd } from '#lib/update/sgd.js';
import { configFile, loadWeights } from '../../examples/glm4-moe/checkpoint.js';
import { readConfig } from '../../examples/glm4-moe/config.js';
import { Glm4Moe } from '../../examples/glm4-moe/model/glm4-moe.js';
import type { Batch } from '../../examples/glm4-moe/train/model.js';

/** Whole models of Hugging Face: weights, and what they give in FP64. */
export const MODEL_CASES = ['glm4-moe-tiny', 'glm4-moe-grouped'] as const;
export type ModelCase = (typeof MODEL_CASES)[number];

export function folderOf(name: ModelCase): string {
  return fileURLToPath(new URL(`../../../test/fixtures/model/${name}`, import.meta.url));
}

export function expectedOf(name: ModelCase): SafetensorsFile {
  return new SafetensorsFile(`${folderOf(name)}/expected.safetensors`);
}

export interface OpenModel {
  readonly mesh: Mesh;
  readonly model: Glm4Moe;
  readonly optimizer: FoldedOptimizer;
  dispose(): void;
}

/** A model with the weights of a folder in FP32, and an optimizer that takes FP32 gradients. Collective. */
export async function openModel(
  device: Device,
  folder: string,
  sizes: Omit<MeshSizes, 'world'> = {},
): Promise<OpenModel> {
  const opened = await freshModel(device, folder, sizes);
  loadWeights(folder, opened.model, opened.optimizer, device);
  for (const { name } of opened.optimizer.parameters) {
    opened.model.setWeight(name, opened.optimizer.shard(name, 'master').values);
  }
  return opened;
}

/** An optimizer that takes FP32 gradients whole and moves nothing. Collective. */
export function collectingOptimizer(device: Device, mesh: Mesh, model: Glm4Moe): Promise<FoldedOptimizer> {
  return FoldedOptimizer.create({
    device,
    mesh,
    parameters: model.parameters,
    update: sgd({ lr: 0 }),
    gradientType: 'float32',
    zeroStage: 0,
  });
}

/** What `openModel` gives, without weights. */
export async function freshModel(
  device: Device,
  folder: string,
  sizes: Omit<MeshSizes, 'world'> = {},
): Promise<OpenModel> {
  const mesh = new Mesh({ world: device.size, ...sizes });
  const model = await Glm4Moe.create({ device, mesh, config: readConfig(configFile(folder)) });
  const optimizer = await collectingOptimizer(device, mesh, model);
  return {
    mesh,
    model,
    optimizer,
    dispose() {
      optimizer.dispose();
      model.dispose();
    },
  };
}

/** The logical tensors by name. Collective. */
export async function logicalOf(
  optimizer: FoldedOptimizer,
  what: 'master' | 'accumulated',
): Promise<Map<string, Float32Array>> {
  const tensors = new Map<string, Float32Array>();
  for (const { name } of optimizer.parameters) tensors.set(name, await optimizer.consolidate(name, what));
  return tensors;
}

/** This rank's loss, and the logical gradients of the mean over all data ranks; once for an optimizer. Collective. */
export async function gradientsOf(
  { model, optimizer }: Pick<OpenModel, 'model' | 'optimizer'>,
  batch: Batch,
): Promise<{ loss: number; gradients: Map<string, Float32Array> }> {
  const loss = await model.backward(batch, 1, (found) => {
    for (const [name, values] of found) (optimizer.gradient(name) as Float32Array).set(values);
  });
  await optimizer.accumulate();
  await optimizer.reduce();
  return { loss, gradients: await logicalOf(optimizer, 'accumulated') };
}

/** The case's batch, or a data rank's part of its sequences. */
export function batchOf(expected: SafetensorsFile, dataRank = 0, dataRanks = 1): Batch {
  const [all, length] = expected.tensors.get('input_ids')!.shape as [number, number];
  const sequences = all / dataRanks;
  const start = dataRank * sequences * length;
  return {
    ids: expected.int32('input_ids').slice(start, start + sequences * length),
    sequences,
    length,
  };
}

/** The largest difference, relative to the largest entry of what is wanted; absolute where that is zero. */
export function relativeError(got: Float32Array, want: Float32Array): number {
  if (got.length !== want.length) return Number.POSITIVE_INFINITY;
  const largest = want.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  // `Math.max` keeps a NaN.
  const most = got.reduce((error, value, i) => Math.max(error, Math.abs(value - want[i]!)), 0);
  return most / (largest || 1);
}

/** The largest of errors by name, with its name. */
export function worst(errors: Readonly<Record<string, number>>): { name: string; error: number } {
  const [first, ...others] = Object.entries(errors).map(([name, error]) => ({ name, error }));
  return others.reduce((most, entry) => (entry.error <= most.error ? most : entry), first!);
}
