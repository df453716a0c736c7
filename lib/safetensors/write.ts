import { checkIterable, checkList, checkObject, reading } from '../arguments.js';
import { FoldstepError, type FoldstepErrorCode } from '../errors.js';
import { replaceFile } from '../files/replace-file.js';
import { show, showName } from '../show.js';
import { typedArray } from '../typed-arrays.js';
import type { DTypeName } from './dtypes.js';
import { LARGEST_HEADER, LENGTH_BYTES, METADATA, MOST_METADATA } from './header.js';
import { elementsOf, shapeText } from './shape.js';

/** A tensor's elements, row-major: FP32, BF16 bits as `Uint16Array`, or int32. `[]` is the shape of a scalar. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly values: Float32Array | Uint16Array | Int32Array;
}

/** A tensor that can be written. */
interface Checked {
  readonly name: string;
  readonly dtype: DTypeName;
  /** The place of its dtype in the file. */
  readonly place: number;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** In the order in which the tensors of a file lie. */
const DTYPES = [
  { dtype: 'F32', kind: 'Float32Array' },
  { dtype: 'I32', kind: 'Int32Array' },
  { dtype: 'BF16', kind: 'Uint16Array' },
] as const;

/**
 * Writes tensors by name, such as a `Map` or `Object.entries` gives them, as a safetensors file, with `metadata` beside them:
 * Hugging Face's `from_pretrained` wants `{ format: 'pt' }`. As its own writer does, it puts tensors of wider elements first,
 * those of one dtype in the order of their names, and pads the header to a multiple of 8 bytes: every tensor is aligned, and
 * the same tensors give the same bytes.
 *
 * The file is there whole or not at all; one that was there before stays until then. A link is followed, also one to nothing,
 * and a file that is replaced keeps its mode. The next save into a folder removes what a killed one left there.
 *
 * Throws, before anything is written, INVALID_ARGUMENT for a name or metadata that is no text, DUPLICATE_NAME, INVALID_DTYPE,
 * INVALID_SHAPE and, where shape and values do not go together, INVALID_LENGTH; FILE_UNWRITABLE.
 */
export function writeSafetensors(
  file: string,
  tensors: Iterable<readonly [name: string, tensor: Tensor]>,
  metadata?: Readonly<Record<string, string>>,
): void {
  const checked = checkedTensors(tensors);
  const entries = metadata === undefined ? [] : [entry(METADATA, metadataText(metadata))];
  let end = 0;
  for (const { name, dtype, shape, bytes } of checked) {
    const begin = end;
    end += bytes.length;
    entries.push(entry(name, JSON.stringify({ dtype, shape, data_offsets: [begin, end] })));
  }
  replaceFile(file, [...header(object(entries)), ...checked.map(({ bytes }) => bytes)]);
}

function checkedTensors(tensors: Iterable<readonly [string, Tensor]>): Checked[] {
  const names = new Set<string>();
  const checked = checkIterable('tensors', tensors, (pair) => {
    const parts = reading('a tensor', () =>
      Array.isArray(pair) ? { name: pair[0], tensor: pair[1] } : undefined,
    );
    if (!parts) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `a tensor must come as [name, tensor]; it is ${show(pair)}`,
      );
    }
    const { name, tensor } = parts;
    checkText('the name of a tensor', name);
    if (name === METADATA) refuse('INVALID_ARGUMENT', name, 'the format keeps this name for the metadata');
    if (names.has(name)) refuse('DUPLICATE_NAME', name, 'it is given twice; names must be unique');
    names.add(name);
    return checkedTensor(name, tensor);
  });
  return checked.sort((a, b) => a.place - b.place || (a.name < b.name ? -1 : 1));
}

function checkedTensor(name: string, tensor: Tensor): Checked {
  const what = `tensor ${showName(name)}`;
  checkObject(`${what}: it`, tensor);
  const { shape: given, values: array } = reading(what, () => ({
    shape: tensor.shape,
    values: tensor.values,
  }));
  const place = DTYPES.findIndex(({ kind }) => typedArray(array, kind) !== undefined);
  const values = typedArray(array, 'Float32Array', 'Int32Array', 'Uint16Array');
  if (!values) {
    refuse(
      'INVALID_DTYPE',
      name,
      `its values must be a Float32Array, BF16 bits in a Uint16Array, or an Int32Array; they are ${show(array)}`,
    );
  }
  const shape = checkList(
    `${what}: its shape`,
    given,
    (size) => {
      if (Number.isSafeInteger(size) && size >= 0) return size;
      return refuse('INVALID_SHAPE', name, `its shape must be a list of sizes; it is ${show(given)}`);
    },
    { code: 'INVALID_SHAPE' },
  );
  const elements = elementsOf(shape);
  if (elements !== values.length) {
    refuse(
      'INVALID_LENGTH',
      name,
      `${shapeText(shape)} has ${elements} elements, and ${values.length} are given`,
    );
  }
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { name, dtype: DTYPES[place]!.dtype, place, shape, bytes };
}

function metadataText(metadata: unknown): string {
  // A list, a map and a text have other tags, in every realm.
  const tag = reading('metadata', () => Object.prototype.toString.call(metadata));
  if (tag !== '[object Object]') {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `metadata must be an object of texts, such as { format: 'pt' }; it is ${show(metadata)}`,
    );
  }
  const given = reading('metadata', () => Object.entries(metadata as object));
  if (given.length > MOST_METADATA) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `metadata may have ${MOST_METADATA} texts; it has ${given.length}`,
    );
  }
  const entries = given.map(([key, value]: [string, unknown]) => {
    checkText('a key of the metadata', key);
    checkText(`metadata ${showName(key)}`, value);
    return entry(key, JSON.stringify(value));
  });
  return object(entries);
}

function checkText(what: string, text: unknown): asserts text is string {
  if (typeof text === 'string' && !/\p{Surrogate}/u.test(text)) return;
  const half = typeof text === 'string' ? ', half a character' : '';
  throw new FoldstepError('INVALID_ARGUMENT', `${what} must be text; it is ${show(text)}${half}`);
}

// Text by text: an object would lose a key such as __proto__.
function entry(key: string, json: string): string {
  return `${JSON.stringify(key)}:${json}`;
}

function object(entries: readonly string[]): string {
  return `{${entries.join(',')}}`;
}

function header(text: string): Uint8Array[] {
  const bytes = Buffer.from(text);
  const padded = Math.ceil(bytes.length / 8) * 8;
  if (padded > LARGEST_HEADER) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `the header would have ${padded} bytes, and the format allows ${LARGEST_HEADER}; write several files`,
    );
  }
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeBigUInt64LE(BigInt(padded));
  return [length, bytes, Buffer.alloc(padded - bytes.length, ' ')];
}

function refuse(code: FoldstepErrorCode, tensor: string, fault: string): never {
  throw new FoldstepError(code, `tensor ${showName(tensor)}: ${fault}`);
}
