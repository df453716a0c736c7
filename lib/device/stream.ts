import { native, nativeAsync } from '../native/errors.js';
import type { RawStream } from '../native/types.js';
import { Resource } from './resource.js';

/**
 * A first-in-first-out queue of device operations. Enqueuing returns at once. After an operation has failed, those behind
 * it are skipped up to the next `synchronize`, which rejects.
 */
export class Stream extends Resource<RawStream> {
  readonly #onDispose: (stream: Stream) => void;

  constructor(handle: RawStream, onDispose: (stream: Stream) => void) {
    super(handle);
    this.#onDispose = onDispose;
  }

  /**
   * What other libraries know the stream by: a `cudaStream_t`, or 0n where there is nothing of the kind. What they enqueue
   * there runs behind operations of foldstep's that were awaited.
   */
  get pointer(): bigint {
    return native(() => this.handle.nativeHandle());
  }

  /**
   * Resolves when everything enqueued so far has run; rejects with the first error since the last `synchronize`. Only a
   * pending one keeps the process alive.
   */
  synchronize(): Promise<void> {
    return nativeAsync(() => this.handle.synchronize());
  }

  /**
   * Cancels what waits for other ranks and drops what has not begun: a pending `synchronize` rejects with ABORTED. Blocks
   * only for the operation that is running.
   */
  override dispose(): void {
    super.dispose();
    this.#onDispose(this);
  }
}
