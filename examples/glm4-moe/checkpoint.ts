import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Device, type FoldedOptimizer, FoldstepError } from 'foldstep';
import { type Tensor, writeSafetensors } from 'foldstep/safetensors';
import type { Glm4Moe } from './model/glm4-moe.ts';
import { shown } from './shown.ts';
import { INDEX, WEIGHTS, WeightFiles } from './weight-files.ts';

export { hasWeights } from './weight-files.ts';

const CONFIG = 'config.json';
const LAYER = /^model\.layers\.(\d+)\./;
const EXPERTS = /^(.+\.experts)\.(gate_up|down)_proj$/;

export function configFile(folder: string): string {
  return join(folder, CONFIG);
}

/**
 * Loads a folder's safetensors (of floats, by Hugging Face's names) into model and optimizer; every rank reads all and keeps
 * its part. Throws, before anything is loaded, UNKNOWN_PARAMETER, INVALID_SHAPE and INVALID_DTYPE naming the tensor,
 * INVALID_ARGUMENT for a value that is not finite; FILE_UNREADABLE, SAFETENSORS_INVALID.
 */
export function loadWeights(
  folder: string,
  model: Glm4Moe,
  optimizer: FoldedOptimizer,
  device: Device,
): void {
  const files = new WeightFiles(folder);
  const stored = new Map<string, StoredTensor[]>();
  for (const { name, shape } of optimizer.parameters) stored.set(name, storedAs(files, name, shape));
  for (const [name, { length }] of model.buffers) stored.set(name, storedAs(files, name, [length]));
  const parts = [...stored.values()].flat();
  for (const { name, shape } of parts) files.check(name, shape);
  const known = new Set(parts.map(({ name }) => name));
  for (const name of files.names) {
    if (known.has(name) || predictsFurther(files, name, model.config.layers)) continue;
    throw new FoldstepError(
      'UNKNOWN_PARAMETER',
      `${files.source} has ${shown(name)}, which the model has not; is ${CONFIG} the one of these weights?`,
      { parameter: name },
    );
  }
  const valuesOf = (name: string) => read(files, stored.get(name)!);
  const own = optimizer.parameters.map((parameter) => parameter.slice(device.rank, valuesOf(parameter.name)));
  const biases = [...model.buffers.keys()].map(valuesOf);
  for (const [i, { name }] of optimizer.parameters.entries()) optimizer.load(name, own[i]!);
  for (const [i, values] of [...model.buffers.values()].entries()) values.set(biases[i]!);
}

/**
 * Writes a folder that Hugging Face's `from_pretrained` reads: the FP32 masters, the correction biases, and the config of
 * the folder `from`. Collective; rank 0 writes. Throws FILE_UNWRITABLE.
 */
export async function saveWeights(
  folder: string,
  from: string,
  model: Glm4Moe,
  optimizer: FoldedOptimizer,
  device: Device,
): Promise<void> {
  const tensors: [string, Tensor][] = [...model.buffers].map(([name, values]) => [
    name,
    { shape: [values.length], values },
  ]);
  for (const { name, shape } of optimizer.parameters) {
    const values = await optimizer.consolidate(name);
    if (device.rank === 0) tensors.push([name, { shape, values }]);
  }
  if (device.rank !== 0) return;
  // The weights first: a config without them would be a model that begins anew.
  saving(folder, () => mkdirSync(folder, { recursive: true }));
  writeSafetensors(join(folder, WEIGHTS), tensors, { format: 'pt' });
  saving(folder, () => {
    if (resolve(folder) !== resolve(from)) copyFileSync(configFile(from), configFile(folder));
    // It names the files of the weights that were here before.
    rmSync(join(folder, INDEX), { force: true });
  });
}

function saving(folder: string, attempt: () => void): void {
  try {
    attempt();
  } catch (cause) {
    throw new FoldstepError('FILE_UNWRITABLE', `cannot save to ${folder}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

interface StoredTensor {
  readonly name: string;
  readonly shape: readonly number[];
}

/** The tensors that hold one of the model's, one after the other: itself, or what Hugging Face writes for each expert. */
function storedAs(files: WeightFiles, name: string, shape: readonly number[]): StoredTensor[] {
  const [, prefix, kind] = EXPERTS.exec(name) ?? [];
  const projections = kind === 'gate_up' ? ['gate_proj', 'up_proj'] : ['down_proj'];
  const [experts = 0, rows = 0, columns = 0] = shape;
  const first = `${prefix}.0.${projections[0]}.weight`;
  if (files.has(name) || !files.has(first)) return [{ name, shape }];
  return Array.from({ length: experts }, (_, expert) =>
    projections.map((projection) => ({
      name: `${prefix}.${expert}.${projection}.weight`,
      shape: [rows / projections.length, columns],
    })),
  ).flat();
}

function read(files: WeightFiles, stored: readonly StoredTensor[]): Float32Array {
  const [first, ...others] = stored.map(({ name }) => files.read(name));
  if (others.length === 0) return first!;
  const whole = new Float32Array(first!.length * stored.length);
  for (const [i, part] of [first!, ...others].entries()) whole.set(part, i * first!.length);
  return whole;
}

/** Files may have a layer for predicting several tokens ahead behind the model's own, which joins two hidden states. */
function predictsFurther(files: WeightFiles, name: string, layers: number): boolean {
  const layer = LAYER.exec(name)?.[1];
  return layer !== undefined && Number(layer) >= layers && files.has(`model.layers.${layer}.eh_proj.weight`);
}
