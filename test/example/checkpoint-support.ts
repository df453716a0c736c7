import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SafetensorsFile } from '#lib/safetensors/file.js';
import { type Tensor, writeSafetensors } from '#lib/safetensors/write.js';
import { folderOf } from './model-cases-support.js';

/** The case that everything here is made from. */
export const ORIGINAL = folderOf('glm4-moe-grouped');

/** The original's tensors by name. */
export function originalTensors(): Map<string, Tensor> {
  const file = new SafetensorsFile(join(ORIGINAL, 'model.safetensors'));
  return new Map([...file.tensors].map(([name, { shape }]) => [name, { shape, values: file.float32(name) }]));
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'foldstep-test-'));
}

/** Runs with a folder that holds the original's config, with some fields set otherwise, and is gone afterwards. */
export async function withFolder(
  use: (folder: string) => Promise<void> | void,
  fields: Record<string, unknown> = {},
): Promise<void> {
  const folder = temporaryFolder();
  try {
    const config = JSON.parse(readFileSync(join(ORIGINAL, 'config.json'), 'utf8'));
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, ...fields }));
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function writeWeights(folder: string, tensors: Iterable<readonly [string, Tensor]>): void {
  writeSafetensors(join(folder, 'model.safetensors'), tensors, { format: 'pt' });
}

/** What Hugging Face writes instead of the experts' two tensors: one for each projection of each expert. */
export function byExpert(tensors: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  const written = new Map<string, Tensor>();
  for (const [name, tensor] of tensors) {
    const prefix = name.slice(0, name.lastIndexOf('.'));
    if (name.endsWith('.experts.gate_up_proj')) cut(written, prefix, tensor, ['gate_proj', 'up_proj']);
    else if (name.endsWith('.experts.down_proj')) cut(written, prefix, tensor, ['down_proj']);
    else written.set(name, tensor);
  }
  return written;
}

/** Of each expert, the rows of the first projection come first. */
function cut(
  into: Map<string, Tensor>,
  prefix: string,
  tensor: Tensor,
  projections: readonly string[],
): void {
  const [experts, rows, columns] = tensor.shape as [number, number, number];
  const shape = [rows / projections.length, columns];
  const size = shape[0]! * columns;
  for (let expert = 0; expert < experts; expert++) {
    for (const [i, projection] of projections.entries()) {
      const start = (expert * projections.length + i) * size;
      into.set(`${prefix}.${expert}.${projection}.weight`, {
        shape,
        values: tensor.values.slice(start, start + size),
      });
    }
  }
}
