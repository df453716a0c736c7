import { checkInstance, checkWhole } from '../arguments.js';
import { native } from '../native/errors.js';
import type { RawMemory } from '../native/types.js';
import { Device } from './device.js';
import type { DType } from './dtype.js';
import { Resource } from './resource.js';
import { View } from './view.js';

/**
 * A block of a device's memory. `dispose()` empties its typed arrays at once; operations in flight keep the memory
 * until they are done.
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
   * Memory of the device that other code owns: `bytes` bytes from `pointer`, as the device addresses them. `owner` is kept
   * from being collected for as long as the buffer is; the memory must last until the operations on it are done. Throws
   * INVALID_ARGUMENT for address 0, a range that reaches beyond 2^64, and what is no memory of the device: on processors
   * every page is looked up once, on a GPU the first byte and the last. Whether it may be written is not looked up.
   */
  static from(device: Device, pointer: bigint, bytes: number, owner?: unknown): Buffer {
    checkInstance('device', device, Device);
    checkWhole('bytes', bytes, 0);
    return new Buffer(
      native(() => device.handle.wrap(pointer, bytes)),
      owner,
    );
  }

  /**
   * `length` elements from `byteOffset`, by default all that fit. Throws INVALID_DTYPE, INVALID_ARGUMENT for a misaligned
   * offset, INVALID_LENGTH for a run that leaves the buffer.
   */
  view<D extends DType>(dtype: D, byteOffset = 0, length?: number): View<D> {
    return new View(this, dtype, byteOffset, length);
  }
}
