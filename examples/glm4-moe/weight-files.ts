import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FoldstepError, fromBFloat16 } from 'foldstep';
import { SafetensorsFile } from 'foldstep/safetensors';
import * as v from 'valibot';

/** Weights in one file, which is also what is written; Hugging Face cuts large ones over several, listed in an index. */
export const WEIGHTS = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';
const INDEX_SCHEMA = v.looseObject({ weight_map: v.record(v.string(), v.string()) });

/** Throws INVALID_ARGUMENT for safetensors of other names: to begin with fresh weights beside them cannot be meant. */
export function hasWeights(folder: string): boolean {
  if (existsSync(join(folder, WEIGHTS)) || existsSync(join(folder, INDEX))) return true;
  const other = readdirSync(folder).find((name) => name.endsWith('.safetensors'));
  if (other === undefined) return false;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `${folder} has ${other}, but neither ${WEIGHTS} nor ${INDEX}: name it so, or bring the index of its parts`,
  );
}

/** The tensors that a folder's safetensors files hold, FP32 or BF16. */
export class WeightFiles {
  /** Names the weights in errors. */
  readonly source: string;
  readonly #files = new Map<string, SafetensorsFile>();

  /** Reads headers. Throws FILE_UNREADABLE, SAFETENSORS_INVALID; INVALID_ARGUMENT for an index that is none. */
  constructor(folder: string) {
    const whole = join(folder, WEIGHTS);
    const index = join(folder, INDEX);
    const single = existsSync(whole) || !existsSync(index);
    this.source = single ? whole : index;
    for (const path of single ? [whole] : listed(folder, index)) {
      const file = new SafetensorsFile(path);
      for (const name of file.tensors.keys()) this.#files.set(name, file);
    }
  }

  get names(): Iterable<string> {
    return this.#files.keys();
  }

  has(name: string): boolean {
    return this.#files.has(name);
  }

  /** Throws UNKNOWN_PARAMETER, INVALID_SHAPE, INVALID_DTYPE, naming the tensor, unless `read` can give it in this shape. */
  check(name: string, shape: readonly number[]): void {
    const file = this.#files.get(name);
    const tensor = file?.tensors.get(name);
    if (!file || !tensor) {
      throw new FoldstepError(
        'UNKNOWN_PARAMETER',
        `${this.source} has no tensor ${name}, which the model needs`,
        { parameter: name },
      );
    }
    if (String(tensor.shape) !== String(shape)) {
      throw new FoldstepError(
        'INVALID_SHAPE',
        `${name} is [${tensor.shape.join(', ')}] in ${file.file} and [${shape.join(', ')}] in the model that config.json describes`,
        { parameter: name },
      );
    }
    if (tensor.dtype !== 'F32' && tensor.dtype !== 'BF16') {
      throw new FoldstepError(
        'INVALID_DTYPE',
        `${name} is ${tensor.dtype} in ${file.file}; weights are read as F32 or BF16`,
        { parameter: name },
      );
    }
  }

  /** Of a tensor that `check` has let through. Throws INVALID_ARGUMENT where a value is not finite: nothing could be trained. */
  read(name: string): Float32Array {
    const file = this.#files.get(name)!;
    const values =
      file.tensors.get(name)!.dtype === 'BF16' ? fromBFloat16(file.bfloat16(name)) : file.float32(name);
    const wrong = values.findIndex((value) => !Number.isFinite(value));
    if (wrong < 0) return values;
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `${name} in ${file.file} is ${values[wrong]} at element ${wrong}`,
      {
        parameter: name,
      },
    );
  }
}

/** The files that an index names, each once. */
function listed(folder: string, index: string): string[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(index, 'utf8'));
  } catch (cause) {
    throw new FoldstepError('INVALID_ARGUMENT', `${index} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
  const parsed = v.safeParse(INDEX_SCHEMA, content);
  if (!parsed.success) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `${index} has no weight_map from names of tensors to names of files`,
    );
  }
  const names = new Set(Object.values(parsed.output.weight_map));
  return [...names].map((name) => {
    if (name === basename(name)) return join(folder, name);
    throw new FoldstepError('INVALID_ARGUMENT', `${index} names ${name}, which is no file beside it`);
  });
}
