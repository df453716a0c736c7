import { constants } from 'node:buffer';
import { checkInstance, checkWhole } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { Genuine } from '../genuine.js';
import { native } from '../native/errors.js';
import type { RawMemory } from '../native/types.js';
import { show } from '../show.js';
import { type TypedArrayKind, typedArray, unshared } from '../typed-arrays.js';
import { Backend } from './backend.js';
import { ARRAY_CONSTRUCTORS, type ArrayOf, bytesOf, type DType } from './dtype.js';
import { Resource } from './resource.js';
import { shownPart } from './shown-part.js';

// A buffer makes views and a view belongs to a buffer, so both classes are in one file.

/** For messages: to a caller, every backend is a `Device`. */
const DEVICE = { name: 'Device', [Symbol.hasInstance]: (value: unknown) => value instanceof Backend };

/**
 * A block of a device's memory. `dispose()` empties its typed arrays at once; operations in flight
 * keep the memory until they are done.
 */
export class Buffer extends Resource<RawMemory> {
  readonly bytes: number;
  /** Whether JavaScript sees the memory: `View.array` works. */
  readonly hostAccessible: boolean;
  /** What the memory belongs to, where that is not foldstep. */
  readonly owner: unknown;
  /** Bytes from a multiple of 8 to where it begins: none in foldstep's own memory. */
  readonly skew: number;

  /** Use `Device.allocate`, `Device.allocateHost` or `Buffer.from`. */
  constructor(handle: RawMemory, owner?: unknown) {
    super(handle);
    this.bytes = native(() => handle.bytes());
    this.hostAccessible = native(() => handle.hostAccessible());
    this.owner = owner;
    this.skew = Number(native(() => handle.address()) & 7n);
  }

  /**
   * Memory of the device that other code owns: `bytes` bytes from `pointer`, as the device
   * addresses them. `owner` is kept from being collected for as long as the buffer is; the memory
   * must last until the operations on it are done. Throws INVALID_ARGUMENT for address 0, a range
   * that reaches beyond 2^64, and what is no memory of the device: on processors every page is
   * looked up once, on a GPU the first byte and the last. Whether it may be written is not looked
   * up.
   */
  static from(device: Backend, pointer: bigint, bytes: number, owner?: unknown): Buffer {
    checkInstance('device', device, DEVICE);
    checkWhole('bytes', bytes, 0);
    return new Buffer(
      native(() => device.handle.wrap(pointer, bytes)),
      owner,
    );
  }

  /**
   * `length` elements from `byteOffset`, by default all that fit. Throws INVALID_DTYPE,
   * INVALID_ARGUMENT for a misaligned offset, INVALID_LENGTH for a run that leaves the buffer.
   */
  view<D extends DType>(dtype: D, byteOffset = 0, length?: number): View<D> {
    return new View(this, dtype, byteOffset, length);
  }
}

/** A run of elements of one type in a buffer. Cheap: it owns nothing. Made by `Buffer.view`. */
export class View<D extends DType = DType> extends Genuine {
  readonly buffer: Buffer;
  readonly dtype: D;
  /** From the buffer's start. */
  readonly byteOffset: number;
  /** Elements. */
  readonly length: number;
  #array: ArrayOf<D> | undefined;

  /**
   * `length` elements, by default all that fit. Throws INVALID_DTYPE, INVALID_ARGUMENT for a
   * misaligned offset, INVALID_LENGTH for a run that leaves the buffer.
   */
  constructor(buffer: Buffer, dtype: D, byteOffset: number, length?: number) {
    super();
    checkInstance('buffer', buffer, Buffer);
    const size = bytesOf(dtype);
    if (!isSize(byteOffset) || (buffer.skew + byteOffset) % size !== 0) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `a ${dtype} view must begin at a multiple of ${size} bytes; it begins at ${show(byteOffset)}${buffer.skew === 0 ? '' : ` of memory that begins at ${buffer.skew}`}`,
      );
    }
    const elements = length ?? Math.floor((buffer.bytes - byteOffset) / size);
    if (!isSize(elements) || byteOffset + elements * size > buffer.bytes) {
      throw new FoldstepError(
        'INVALID_LENGTH',
        `${show(elements)} elements of ${dtype} from byte ${byteOffset} do not lie in a buffer of ${buffer.bytes} bytes`,
      );
    }
    this.buffer = buffer;
    this.dtype = dtype;
    this.byteOffset = byteOffset;
    this.length = elements;
  }

  get byteLength(): number {
    return this.length * bytesOf(this.dtype);
  }

  /**
   * Where it begins, as the device addresses it: for code that works on the device without
   * foldstep.
   */
  get pointer(): bigint {
    return native(() => this.buffer.handle.address()) + BigInt(this.byteOffset);
  }

  /**
   * Whether `array` works: JavaScript sees the memory, and Node.js shows as many bytes in one
   * array.
   */
  get visible(): boolean {
    return this.buffer.hostAccessible && this.byteLength <= constants.MAX_LENGTH;
  }

  /**
   * The elements themselves, without a copy, the same object every time. It keeps the memory alive
   * and is empty after `buffer.dispose()`. Throws DISPOSED; INVALID_ARGUMENT where JavaScript
   * cannot see the memory (see `Buffer.hostAccessible`); INVALID_LENGTH for more bytes than Node.js
   * shows in one array (4 GiB up to Node.js 20).
   */
  get array(): ArrayOf<D> {
    if (this.buffer.hostAccessible && !this.visible) {
      throw new FoldstepError(
        'INVALID_LENGTH',
        `Node.js shows at most ${constants.MAX_LENGTH} bytes in one array, and this view has ${this.byteLength}; take it in pieces with subview(begin, end).array, those of a gradient or a weight from gradientView(name) or weightView(name)`,
      );
    }
    const run = { offset: this.byteOffset, bytes: this.byteLength };
    const { offset, bytes } = shownPart(this.buffer.bytes, run, bytesOf(this.dtype));
    const memory = native(() => this.buffer.handle.arrayBuffer(offset, bytes));
    if (this.#array?.buffer !== memory) {
      this.#array = new ARRAY_CONSTRUCTORS[this.dtype](memory, this.byteOffset - offset, this.length);
    }
    return this.#array;
  }

  /**
   * A copy of the elements, as the streams that were awaited have left them. Blocks for the copy.
   * Throws DISPOSED.
   */
  read(): ArrayOf<D> {
    const array = new ARRAY_CONSTRUCTORS[this.dtype](this.length);
    native(() => this.buffer.handle.read(this.byteOffset, array));
    return array as ArrayOf<D>;
  }

  /**
   * Sets all elements. Blocks for the copy. Throws INVALID_LENGTH, INVALID_DTYPE for an array of
   * another kind, DISPOSED.
   */
  write(values: ArrayOf<D>): void {
    const { name } = ARRAY_CONSTRUCTORS[this.dtype];
    const array = typedArray(values, name as TypedArrayKind);
    if (array === undefined) {
      throw new FoldstepError(
        'INVALID_DTYPE',
        `a ${this.dtype} view is written from a ${name}, not ${show(values)}`,
      );
    }
    if (array.length !== this.length) {
      throw new FoldstepError(
        'INVALID_LENGTH',
        `${array.length} elements were given for a view of ${this.length}`,
      );
    }
    native(() => this.buffer.handle.write(this.byteOffset, unshared(array)));
  }

  /** Elements from `begin` up to `end`. Throws INVALID_LENGTH if they are not within this view. */
  subview(begin: number, end: number): View<D> {
    if (!isSize(begin) || !isSize(end) || begin > end || end > this.length) {
      throw new FoldstepError(
        'INVALID_LENGTH',
        `elements ${show(begin)} up to ${show(end)} do not lie in a view of ${this.length} elements`,
      );
    }
    return new View(this.buffer, this.dtype, this.byteOffset + begin * bytesOf(this.dtype), end - begin);
  }
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
