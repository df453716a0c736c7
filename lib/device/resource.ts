import { native } from '../native/errors.js';
import type { RawHandle } from '../native/types.js';

/** Something native that is let go by `dispose()`, by `using`, or, late and without blocking, when it is collected. */
export abstract class Resource<Handle extends RawHandle> implements Disposable {
  /** For foldstep's own layers. The addon throws DISPOSED where it is used after `dispose`. */
  readonly handle: Handle;

  constructor(handle: Handle) {
    this.handle = handle;
  }

  /** Any later use throws DISPOSED. Doing it twice does nothing. */
  dispose(): void {
    native(() => this.handle.release());
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
