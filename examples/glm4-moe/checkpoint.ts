import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Device, type FoldedOptimizer, FoldstepError, fromBFloat16, type Parameter } from 'foldstep';
import { SafetensorsFile, type Tensor, writeSafetensors } from 'foldstep/safetensors';
import type { Glm4Moe } from './model/glm4-moe.ts';

const WEIGHTS = 'model.safetensors';
const CONFIG = 'config.json';
/** Layers for predicting several tokens ahead, which files may have behind the model's own. */
const LAYER = /^model\.layers\.(\d+)\./;

export function configFile(folder: string): string {
  return join(folder, CONFIG);
}

export function hasWeights(folder: string): boolean {
  return existsSync(join(folder, WEIGHTS));
}

/**
 * Loads a folder's `model.safetensors` (F32 or BF16, Hugging Face's names) into model and optimizer; every rank reads its own
 * part. Throws, before anything is loaded, UNKNOWN_PARAMETER and INVALID_SHAPE naming the tensor; FILE_UNREADABLE,
 * SAFETENSORS_INVALID.
 */
export function loadWeights(
  folder: string,
  model: Glm4Moe,
  optimizer: FoldedOptimizer,
  device: Device,
): void {
  const file = new SafetensorsFile(join(folder, WEIGHTS));
  const wanted = new Map<string, readonly number[]>([
    ...optimizer.parameters.map(({ name, shape }) => [name, shape] as const),
    ...[...model.buffers].map(([name, { length }]) => [name, [length]] as const),
  ]);
  for (const [name, shape] of wanted) checkTensor(file, name, shape);
  for (const name of file.tensors.keys()) {
    const layer = Number(LAYER.exec(name)?.[1] ?? -1);
    if (wanted.has(name) || layer >= model.config.layers) continue;
    throw new FoldstepError(
      'UNKNOWN_PARAMETER',
      `${file.file} has ${name}, which the model has not; is ${CONFIG} the file's?`,
      {
        parameter: name,
      },
    );
  }
  for (const parameter of optimizer.parameters) {
    optimizer.load(parameter.name, parameter.slice(device.rank, read(file, parameter.name)));
  }
  for (const [name, values] of model.buffers) values.set(read(file, name));
}

/**
 * Writes a folder that Hugging Face's `from_pretrained` reads: the FP32 masters, the correction biases, and the config.
 * Collective; rank 0 writes. Throws FILE_UNWRITABLE.
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
  mkdirSync(folder, { recursive: true });
  writeSafetensors(join(folder, WEIGHTS), tensors, { format: 'pt' });
  if (resolve(folder) !== resolve(from)) copyFileSync(configFile(from), configFile(folder));
}

function checkTensor(file: SafetensorsFile, name: string, shape: readonly number[]): void {
  const tensor = file.tensors.get(name);
  if (!tensor) {
    throw new FoldstepError(
      'UNKNOWN_PARAMETER',
      `${file.file} has no tensor ${name}, which the model needs`,
      {
        parameter: name,
      },
    );
  }
  if (String(tensor.shape) === String(shape)) return;
  throw new FoldstepError(
    'INVALID_SHAPE',
    `${name} is [${tensor.shape.join(', ')}] in ${file.file} and [${shape.join(', ')}] in the model that ${CONFIG} describes`,
    { parameter: name },
  );
}

function read(file: SafetensorsFile, name: Parameter['name']): Float32Array {
  return file.tensors.get(name)!.dtype === 'BF16' ? fromBFloat16(file.bfloat16(name)) : file.float32(name);
}
