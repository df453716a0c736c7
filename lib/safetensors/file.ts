import { FoldstepError } from '../errors.js';
import { type RegularFile, withRegularFile } from '../files/regular-file.js';
import { show, showName } from '../show.js';
import { bytesOf, type DTypeName } from './dtypes.js';
import { type HeaderTensor, LARGEST_HEADER, LENGTH_BYTES, parseHeader, type TensorInfo } from './header.js';
import { elementsOf } from './shape.js';
import { CONVERTED, conversionOf } from './to-float32.js';

export type { TensorInfo } from './header.js';

/** What is converted at a time: large enough to be fast, and small beside a tensor. */
const ELEMENTS_AT_ONCE = 2 ** 20;

/**
 * A safetensors file, its header read and checked in full; the tensors' bytes are read when asked for, whole or a part:
 * elements from `begin` up to `end`. The file is not kept open: one that was replaced or written to since is found out.
 *
 * Throws, naming file and tensor, FILE_UNREADABLE where the file cannot be read or changed; SAFETENSORS_INVALID for every fault
 * in it; UNKNOWN_PARAMETER for a tensor that is not there; INVALID_DTYPE where it cannot be given as what is wanted;
 * INVALID_ARGUMENT for a part that it does not have; OUT_OF_MEMORY for more than there is memory for.
 */
export class SafetensorsFile {
  readonly file: string;
  /** By name, in the order of the header. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** The texts that the file keeps beside its tensors, such as `format`. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly #tensors: ReadonlyMap<string, HeaderTensor>;
  /** Where the tensors' bytes begin in the file. */
  readonly #dataStart: number;
  /** Of the file that the header was read from. */
  readonly #version: string;

  /** Reads and checks the header. */
  constructor(file: string) {
    this.file = file;
    const { header, dataStart, dataBytes, version } = withRegularFile(file, (open) => {
      const bytes = readHeader(open, file);
      const start = LENGTH_BYTES + bytes.length;
      return { header: bytes, dataStart: start, dataBytes: open.size - start, version: open.version };
    });
    const { tensors, metadata } = parseHeader(header, dataBytes, (fault) => invalid(file, fault));
    this.tensors = tensors;
    this.metadata = metadata;
    this.#tensors = tensors;
    this.#dataStart = dataStart;
    this.#version = version;
  }

  /**
   * A tensor's elements as FP32, row-major. BF16, F16, F8_E4M3 and F8_E5M2 are converted exactly, F64 is rounded to the
   * nearest FP32; integers and the other floats are not converted.
   */
  float32(name: string, begin?: number, end?: number): Float32Array<ArrayBuffer> {
    const tensor = this.#tensor(name);
    const convert = conversionOf(tensor.dtype);
    if (!convert) return this.#as(name, 'F32', Float32Array, begin, end);
    const part = this.#part(name, 'elements', elementsOf(tensor.shape), begin, end);
    const into = this.#allocate(name, Float32Array, part.length);
    this.#reading((open) => {
      for (let done = 0; done < into.length; done += ELEMENTS_AT_ONCE) {
        const piece = into.subarray(done, done + ELEMENTS_AT_ONCE);
        const bytes = new Uint8Array(bytesOf(tensor.dtype, piece.length)!);
        open.read(bytes, this.#dataStart + tensor.begin + bytesOf(tensor.dtype, part.begin + done)!);
        convert(bytes, piece);
      }
    });
    return into;
  }

  /** A BF16 tensor's bits, row-major. */
  bfloat16(name: string, begin?: number, end?: number): Uint16Array<ArrayBuffer> {
    return this.#as(name, 'BF16', Uint16Array, begin, end);
  }

  /** An int32 tensor's elements, row-major. */
  int32(name: string, begin?: number, end?: number): Int32Array<ArrayBuffer> {
    return this.#as(name, 'I32', Int32Array, begin, end);
  }

  /** A tensor's bytes as they lie in the file, whatever its dtype; `begin` and `end` count bytes. */
  bytes(name: string, begin?: number, end?: number): Uint8Array<ArrayBuffer> {
    const tensor = this.#tensor(name);
    const part = this.#part(name, 'bytes', tensor.end - tensor.begin, begin, end);
    return this.#read(name, Uint8Array, part.length, tensor.begin + part.begin);
  }

  #as<T extends Elements>(
    name: string,
    dtype: DTypeName,
    type: ArrayType<T>,
    begin: number | undefined,
    end: number | undefined,
  ): T {
    const tensor = this.#tensor(name);
    if (tensor.dtype !== dtype) {
      throw new FoldstepError(
        'INVALID_DTYPE',
        `tensor ${showName(name)} of ${showName(this.file)} was wanted as ${dtype} and is ${tensor.dtype}; float32() converts ${CONVERTED}, and bytes() gives any as it lies`,
        { parameter: name },
      );
    }
    const part = this.#part(name, 'elements', elementsOf(tensor.shape), begin, end);
    return this.#read(name, type, part.length, tensor.begin + bytesOf(dtype, part.begin)!);
  }

  #tensor(name: string): HeaderTensor {
    const tensor = this.#tensors.get(name);
    if (tensor) return tensor;
    const text = `${showName(this.file)} has no tensor ${showName(name)}`;
    throw new FoldstepError('UNKNOWN_PARAMETER', text, { parameter: name });
  }

  #part(name: string, unit: string, size: number, begin = 0, end = size): { begin: number; length: number } {
    if (
      Number.isSafeInteger(begin) &&
      Number.isSafeInteger(end) &&
      0 <= begin &&
      begin <= end &&
      end <= size
    ) {
      return { begin, length: end - begin };
    }
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `tensor ${showName(name)} of ${showName(this.file)} has ${size} ${unit}; there is no part from ${show(begin)} to ${show(end)}`,
      { parameter: name },
    );
  }

  #read<T extends Elements>(name: string, type: ArrayType<T>, length: number, from: number): T {
    const into = this.#allocate(name, type, length);
    const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
    this.#reading((open) => open.read(bytes, this.#dataStart + from));
    return into;
  }

  #reading(use: (open: RegularFile) => void): void {
    withRegularFile(this.file, use, this.#version);
  }

  #allocate<T extends Elements>(name: string, type: ArrayType<T>, length: number): T {
    try {
      return new type(length);
    } catch (cause) {
      throw new FoldstepError(
        'OUT_OF_MEMORY',
        `there is no memory for ${length} elements of tensor ${showName(name)} of ${showName(this.file)}; read it in parts`,
        { parameter: name, cause },
      );
    }
  }
}

type Elements =
  | Float32Array<ArrayBuffer>
  | Uint16Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>;
type ArrayType<T extends Elements> = new (length: number) => T;

function readHeader(open: RegularFile, file: string): Uint8Array {
  if (open.size < LENGTH_BYTES) {
    throw invalid(file, `it has ${open.size} bytes, too few for the 8 bytes of the header's length`);
  }
  const word = Buffer.alloc(LENGTH_BYTES);
  open.read(word, 0);
  const length = word.readBigUInt64LE();
  if (length > LARGEST_HEADER) {
    throw invalid(file, `its header claims ${length} bytes; the format allows ${LARGEST_HEADER}`);
  }
  if (LENGTH_BYTES + Number(length) > open.size) {
    throw invalid(
      file,
      `its header claims ${length} bytes, but only ${open.size - LENGTH_BYTES} follow: it is cut short`,
    );
  }
  const header = new Uint8Array(Number(length));
  open.read(header, LENGTH_BYTES);
  return header;
}

function invalid(file: string, fault: string): FoldstepError {
  return new FoldstepError(
    'SAFETENSORS_INVALID',
    `${showName(file)} is not a valid safetensors file: ${fault}`,
  );
}
