import { native } from '../native/errors.js';
import type { RawWindow } from '../native/types.js';
import { Buffer } from './buffer.js';
import { Resource } from './resource.js';

/** One slab of memory for each rank of a communicator, mapped by all of them. Made by `Device.createWindow`. */
export class PeerWindow extends Resource<RawWindow> {
  /** This rank's slab. */
  readonly buffer: Buffer;
  /** World ranks of the members, in order. */
  readonly worldRanks: readonly number[];

  constructor(handle: RawWindow) {
    super(handle);
    this.buffer = new Buffer(native(() => handle.slab()));
    this.worldRanks = native(() => handle.worldRanks());
  }

  /** A peer that waits for this rank in the window is told that it has gone. */
  override dispose(): void {
    this.buffer.dispose();
    super.dispose();
  }
}
