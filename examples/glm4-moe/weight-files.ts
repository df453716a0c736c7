import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FoldstepError } from 'foldstep';
import { SafetensorsFile } from 'foldstep/safetensors';
import * as v from 'valibot';
import { readJson } from './json-file.ts';
import { shown } from './shown.ts';

/** Weights in one file, which is also what is written; Hugging Face cuts large ones over several, listed in an index. */
export const WEIGHTS = 'model.safetensors';
export const INDEX = 'model.safetensors.index.json';
const INDEX_SCHEMA = v.looseObject({ weight_map: v.record(v.string(), v.string()) });

/** Throws INVALID_ARGUMENT for safetensors of other names: to begin with fresh weights beside them cannot be meant. */
export function hasWeights(folder: string): boolean {
  if (existsSync(join(folder, WEIGHTS)) || existsSync(join(folder, INDEX))) return true;
  const other = readdirSync(folder).find((name) => name.endsWith('.safetensors'));
  if (other === undefined) return false;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `${folder} has ${shown(other)}, but neither ${WEIGHTS} nor ${INDEX}: name it so, or bring the index of its parts`,
  );
}

/** Dtypes that FP32 holds, and F64, which is rounded to it. An F8 tensor of a model has scales beside it. */
const READ = ['F32', 'BF16', 'F16', 'F64'];

/** The tensors that a folder's safetensors files hold. Where there is an index, each lies in the file that the index names. */
export class WeightFiles {
  /** Names the weights in errors. */
  readonly source: string;
  readonly #files: ReadonlyMap<string, SafetensorsFile>;

  /**
   * Reads headers. Throws FILE_UNREADABLE, SAFETENSORS_INVALID; INVALID_ARGUMENT for an index that is none; UNKNOWN_PARAMETER
   * where a file has not what the index says.
   */
  constructor(folder: string) {
    const index = join(folder, INDEX);
    const indexed = existsSync(index);
    this.source = indexed ? index : join(folder, WEIGHTS);
    this.#files = indexed ? filesByIndex(folder, index) : filesOf(new SafetensorsFile(this.source));
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
        `${name} is [${shown(tensor.shape.join(', '))}] in ${file.file} and [${shape.join(', ')}] in the model that config.json describes`,
        { parameter: name },
      );
    }
    if (!READ.includes(tensor.dtype)) {
      throw new FoldstepError(
        'INVALID_DTYPE',
        `${name} is ${tensor.dtype} in ${file.file}; weights are read as ${READ.join(', ')}`,
        { parameter: name },
      );
    }
  }

  /** Of a tensor that `check` has let through. Throws INVALID_ARGUMENT where a value is not finite: nothing could be trained. */
  read(name: string): Float32Array {
    const file = this.#files.get(name)!;
    const values = file.float32(name);
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

function filesOf(file: SafetensorsFile): Map<string, SafetensorsFile> {
  return new Map([...file.tensors.keys()].map((name) => [name, file]));
}

/** By tensor, the file that the index names for it: others may hold a tensor of its name too. */
function filesByIndex(folder: string, index: string): Map<string, SafetensorsFile> {
  const parsed = v.safeParse(INDEX_SCHEMA, readJson(index, 'cannot be read'), { abortEarly: true });
  if (!parsed.success) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `${index} has no weight_map from names of tensors to names of files`,
    );
  }
  const places = Object.entries(parsed.output.weight_map);
  const files = new Map<string, SafetensorsFile>();
  for (const [, name] of places) {
    if (name !== basename(name)) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `${index} names ${shown(name)}, which is no file beside it`,
      );
    }
    if (!files.has(name)) files.set(name, new SafetensorsFile(join(folder, name)));
  }
  return new Map(
    places.map(([tensor, name]) => {
      const file = files.get(name)!;
      if (file.tensors.has(tensor)) return [tensor, file];
      throw new FoldstepError(
        'UNKNOWN_PARAMETER',
        `${index} says that ${shown(name)} has tensor ${shown(tensor)}, which it has not`,
        { parameter: tensor },
      );
    }),
  );
}
