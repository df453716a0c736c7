import { FoldstepError, type FoldstepErrorCode } from '../errors.js';
import { LARGEST_HEADER, LENGTH_BYTES, METADATA } from './header.js';
import { replaceFile } from './replace-file.js';

/** A tensor's elements, row-major: FP32, BF16 bits as `Uint16Array`, or int32. `[]` is the shape of a scalar. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly values: Float32Array | Uint16Array | Int32Array;
}

/** In the order in which the tensors of a file lie. */
const DTYPES = [
  { name: 'F32', array: Float32Array },
  { name: 'I32', array: Int32Array },
  { name: 'BF16', array: Uint16Array },
];

/**
 * Writes tensors by name, such as a `Map` or `Object.entries` gives them, as a safetensors file, with `metadata` beside them:
 * Hugging Face's `from_pretrained` wants `{ format: 'pt' }`. As its own writer does, it puts tensors of wider elements first,
 * those of one dtype in the order of their names, and pads the header to a multiple of 8 bytes: every tensor is aligned, and
 * the same tensors give the same bytes.
 *
 * The file is there whole or not at all; one that was there before stays until then. Throws, before anything is written,
 * INVALID_ARGUMENT for a name or metadata that is no text, DUPLICATE_NAME, INVALID_DTYPE, INVALID_SHAPE and, where shape and
 * values do not go together, INVALID_LENGTH; FILE_UNWRITABLE.
 */
export function writeSafetensors(
  file: string,
  tensors: Iterable<readonly [name: string, tensor: Tensor]>,
  metadata?: Readonly<Record<string, string>>,
): void {
  const sorted = inOrder([...tensors]);
  const entries = metadata === undefined ? [] : [entry(METADATA, checkedMetadata(metadata))];
  let end = 0;
  for (const { name, dtype, tensor } of sorted) {
    const begin = end;
    end += tensor.values.byteLength;
    entries.push(entry(name, { dtype, shape: tensor.shape, data_offsets: [begin, end] }));
  }
  const data = sorted.map(({ tensor: { values } }) => bytesOf(values));
  replaceFile(file, [...header(`{${entries.join(',')}}`), ...data]);
}

function inOrder(tensors: readonly (readonly [string, Tensor])[]) {
  const names = new Set<string>();
  const checked = tensors.map(([name, tensor]) => {
    checkText('the name of a tensor', name);
    if (name === METADATA) refuse('INVALID_ARGUMENT', name, 'the format keeps this name for the metadata');
    if (names.has(name)) refuse('DUPLICATE_NAME', name, 'it is given twice; names must be unique');
    names.add(name);
    return { name, tensor, place: checkedDtype(name, tensor) };
  });
  checked.sort((a, b) => a.place - b.place || (a.name < b.name ? -1 : 1));
  return checked.map(({ name, tensor, place }) => ({ name, tensor, dtype: DTYPES[place]!.name }));
}

/** The tensor's place in `DTYPES`. */
function checkedDtype(name: string, { shape, values }: Tensor): number {
  const place = DTYPES.findIndex(({ array }) => values instanceof array);
  if (place < 0) {
    refuse(
      'INVALID_DTYPE',
      name,
      'its values must be a Float32Array, BF16 bits in a Uint16Array, or an Int32Array',
    );
  }
  if (!Array.isArray(shape) || !shape.every((size) => Number.isSafeInteger(size) && size >= 0)) {
    refuse('INVALID_SHAPE', name, `its shape must be a list of sizes; it is ${JSON.stringify(shape)}`);
  }
  const elements = shape.reduce((product, size) => product * size, 1);
  if (elements !== values.length) {
    refuse(
      'INVALID_LENGTH',
      name,
      `[${shape.join(', ')}] has ${elements} elements, and ${values.length} are given`,
    );
  }
  return place;
}

function checkedMetadata(metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const [key, value] of Object.entries(metadata)) {
    checkText('a key of the metadata', key);
    checkText(`metadata ${key}`, value);
  }
  return metadata;
}

function checkText(what: string, text: unknown): void {
  if (typeof text === 'string' && !/\p{Surrogate}/u.test(text)) return;
  const shown = typeof text === 'string' ? `${JSON.stringify(text)}, half a character` : String(text);
  throw new FoldstepError('INVALID_ARGUMENT', `${what} must be text; it is ${shown}`);
}

// Text by text: an object would lose a key such as __proto__.
function entry(key: string, value: unknown): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
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

function bytesOf({ buffer, byteOffset, byteLength }: Tensor['values']): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function refuse(code: FoldstepErrorCode, tensor: string, fault: string): never {
  throw new FoldstepError(code, `tensor ${tensor}: ${fault}`);
}
