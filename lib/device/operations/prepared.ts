import { toFoldstepError } from '../../native/errors.js';
import type { RawHandle, RawOperation } from '../../native/types.js';
import type { Backend } from '../backend.js';
import { streamOf } from '../checks.js';
import { Resource, requireAlive } from '../resource.js';
import type { Stream } from '../stream.js';

/** What prepares operations: a `Device`. */
export type Preparer = Backend & { readonly stream: Stream };

/** The values of `enqueue` for a run of elements: none, or the first element and one past the last. */
export type RunOfElements = [] | [begin: number, end: number];

/**
 * A device operation that was checked once. `enqueue` is all that a step calls. The operation keeps its memory
 * until the operation is disposed of.
 */
export class PreparedOperation<Values extends readonly number[] = []> extends Resource<RawOperation> {
  readonly #stream: Stream;
  readonly #uses: readonly Resource<RawHandle>[];

  /** Use the methods `prepare...` of `Device`. `uses` are what must be alive when it is enqueued. */
  constructor(handle: RawOperation, stream: Stream, uses: readonly Resource<RawHandle>[]) {
    super(handle);
    this.#stream = stream;
    this.#uses = uses;
  }

  /**
   * Enqueues it on a stream, by default the device's own, and returns at once. Throws INVALID_ARGUMENT or INVALID_LENGTH for
   * wrong values, DISPOSED if the operation, the stream or one of its buffers is disposed of.
   */
  enqueue(stream: Stream = this.#stream, ...values: Values): void {
    try {
      const raw = streamOf(stream);
      for (const used of this.#uses) requireAlive(used);
      this.handle.enqueue(raw, ...values);
    } catch (error) {
      throw toFoldstepError(error);
    }
  }

  /** Enqueues the operation, then disposes of it. */
  enqueueOnce(stream: Stream = this.#stream, ...values: Values): void {
    try {
      this.enqueue(stream, ...values);
    } finally {
      this.dispose();
    }
  }
}
