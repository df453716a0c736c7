import { readSync } from 'node:fs';
import { FoldstepError } from '../errors.js';
import { LARGEST_HEADER, LENGTH_BYTES, parseHeader, type TensorInfo } from './header.js';
import { withRegularFile } from './regular-file.js';

export type { TensorInfo } from './header.js';

/**
 * A safetensors file, its header read and checked in full; the tensors' bytes are read when asked for. Throws,
 * naming the file, FILE_UNREADABLE where it cannot be read, and SAFETENSORS_INVALID for every fault in it and for a tensor
 * that is wanted as another dtype than its own.
 */
export class SafetensorsFile {
  readonly file: string;
  /** By name, in the order of the header. */
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  /** The texts that the file keeps beside its tensors, such as `format`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Where the tensors' bytes begin in the file. */
  readonly #dataStart: number;

  /** Reads and checks the header. */
  constructor(file: string) {
    this.file = file;
    const { header, dataStart, dataBytes } = withRegularFile(file, (fd, size) => {
      const bytes = headerBytes(fd, file, size);
      const start = LENGTH_BYTES + bytes;
      return {
        header: readExactly(fd, file, LENGTH_BYTES, bytes),
        dataStart: start,
        dataBytes: size - start,
      };
    });
    this.#dataStart = dataStart;
    const { tensors, metadata } = parseHeader(header, dataBytes, (fault) => invalid(file, fault));
    this.tensors = tensors;
    this.metadata = metadata;
  }

  /** An FP32 tensor's elements, row-major. */
  float32(name: string): Float32Array {
    return new Float32Array(this.#read(name, 'F32'));
  }

  /** A BF16 tensor's bits, row-major. */
  bfloat16(name: string): Uint16Array {
    return new Uint16Array(this.#read(name, 'BF16'));
  }

  /** An int32 tensor's elements, row-major. */
  int32(name: string): Int32Array {
    return new Int32Array(this.#read(name, 'I32'));
  }

  #read(name: string, dtype: string): ArrayBuffer {
    const tensor = this.tensors.get(name);
    if (tensor?.dtype !== dtype) {
      throw invalid(
        this.file,
        `tensor ${name} was wanted as ${dtype} and is ${tensor ? tensor.dtype : 'not there'}`,
      );
    }
    const { begin, end } = tensor;
    return withRegularFile(this.file, (fd) =>
      readExactly(fd, this.file, this.#dataStart + begin, end - begin),
    ).buffer;
  }
}

function headerBytes(fd: number, file: string, size: number): number {
  if (size < LENGTH_BYTES) {
    throw invalid(file, `it has ${size} bytes, too few for the 8 bytes of the header's length`);
  }
  const length = Buffer.from(readExactly(fd, file, 0, LENGTH_BYTES).buffer).readBigUInt64LE();
  if (length > LARGEST_HEADER) {
    throw invalid(file, `its header claims ${length} bytes; the format allows ${LARGEST_HEADER}`);
  }
  if (LENGTH_BYTES + Number(length) > size) {
    throw invalid(
      file,
      `its header claims ${length} bytes, but only ${size - LENGTH_BYTES} follow: it is cut short`,
    );
  }
  return Number(length);
}

function readExactly(fd: number, file: string, position: number, bytes: number): Uint8Array<ArrayBuffer> {
  const into = new Uint8Array(bytes);
  for (let done = 0; done < bytes; ) {
    const got = readSync(fd, into, done, bytes - done, position + done);
    if (got === 0)
      throw invalid(file, `it ends before byte ${position + bytes}: it changed while it was read`);
    done += got;
  }
  return into;
}

function invalid(file: string, fault: string): FoldstepError {
  return new FoldstepError('SAFETENSORS_INVALID', `${file} is not a valid safetensors file: ${fault}`);
}
