import { FoldstepError } from '../errors.js';
import type { Communicator } from './communicator.js';
import type { Device } from './device.js';
import type { PeerWindow } from './peer-window.js';
import type { Stream } from './stream.js';

/**
 * Opens a window as `Device.createWindow` does, of `bytes` bytes on each member. Resolves with
 * undefined on every member where their devices do not reach each other's memory. Collective over
 * `communicator`. Rejects with what `Device.createWindow` rejects with, but for PATH_UNAVAILABLE.
 */
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
