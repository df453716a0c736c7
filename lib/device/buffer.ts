import { native } from '../native/errors.js';
import type { RawMemory } from '../native/types.js';
import { bytesOf, type DType } from './dtype.js';
import { Resource } from './resource.js';
import { View } from './view.js';

/**
 * A block of a device's memory. `dispose()` empties its typed arrays at once; operations in flight keep the memory
 * until they are done.
 */
export class Buffer extends Resource<RawMemory> {
  readonly bytes: number;

  constructor(handle: RawMemory) {
    super(handle);
    this.bytes = native(() => handle.bytes());
  }

  /**
   * `length` elements from `byteOffset`, by default all that fit. Throws INVALID_DTYPE, INVALID_ARGUMENT for a misaligned
   * offset, INVALID_LENGTH for a run that leaves the buffer.
   */
  view<D extends DType>(dtype: D, byteOffset = 0, length?: number): View<D> {
    const rest = Math.floor((this.bytes - byteOffset) / bytesOf(dtype));
    return new View(this, dtype, byteOffset, length ?? rest);
  }
}
