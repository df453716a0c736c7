import { FoldstepError } from '../errors.js';
import { Genuine } from '../genuine.js';
import { native } from '../native/errors.js';
import type { RawHandle } from '../native/types.js';
import { show } from '../show.js';

let isDisposed: (resource: Resource<RawHandle>) => boolean;

/** Throws DISPOSED for what has been disposed of. */
export function requireAlive(resource: Resource<RawHandle>): void {
  if (!isDisposed(resource)) return;
  throw new FoldstepError(
    'DISPOSED',
    `this ${resource.constructor.name} has been disposed of; make another one`,
  );
}

/** Something native that is let go by `dispose()`, by `using`, or, late and without blocking, when it is collected. */
export abstract class Resource<Handle extends RawHandle> extends Genuine implements Disposable {
  /** For foldstep's own layers. The addon throws DISPOSED where it is used after `dispose`. */
  readonly handle: Handle;
  #disposed = false;

  /** Throws INVALID_ARGUMENT for what is no handle. */
  constructor(handle: Handle) {
    super();
    if (!native(() => typeof handle?.release === 'function')) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `${new.target.name} is made by foldstep around a native handle, not by new; it was given ${show(handle)}`,
      );
    }
    this.handle = handle;
  }

  /** Any later use throws DISPOSED. Doing it twice does nothing. */
  dispose(): void {
    this.#disposed = true;
    native(() => this.handle.release());
  }

  static {
    isDisposed = (resource) => resource.#disposed;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
