import { FoldstepError } from '../errors.js';
import { native } from '../native/errors.js';
import type { RawWindow } from '../native/types.js';
import { Buffer } from './buffer.js';
import type { Communicator } from './communicator.js';
import type { Device } from './device.js';
import { Resource } from './resource.js';
import type { Stream } from './stream.js';

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

/** `Device.createWindow`, or none, for every member, where their devices do not reach each other's memory. */
export async function windowWhereReachable(
  device: Device,
  communicator: Communicator,
  bytes: number,
  stream?: Stream,
): Promise<PeerWindow | undefined> {
  try {
    return await device.createWindow(communicator, bytes, stream);
  } catch (error) {
    if (error instanceof FoldstepError && error.code === 'PATH_UNAVAILABLE') return undefined;
    throw error;
  }
}
