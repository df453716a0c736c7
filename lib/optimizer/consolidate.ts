import { requireAgreement } from '../device/agreement.js';
import type { Communicator } from '../device/communicator.js';
import type { Device } from '../device/device.js';
import { reduceArrays } from '../device/small-arrays.js';
import type { Parameter } from '../parameters/parameter.js';
import { boxRuns } from '../parameters/slice.js';
import type { ShardView } from './shards.js';

/**
 * A logical tensor, row-major, from what the ranks of its stage hold of it, bit for bit. `sharded`:
 * whether their shards hold no copies along the data axis. Collective over `stage`. Throws
 * PARAMETERS_DIFFER where members want another tensor.
 */
export async function consolidate(
  device: Device,
  stage: Communicator,
  parameter: Parameter,
  what: string,
  sharded: boolean,
  shard: ShardView,
): Promise<Float32Array> {
  await requireAgreement(device, stage, 'the tensors to consolidate', `${what} of ${parameter.name}`);
  const bits = new Int32Array(parameter.logicalSize);
  if (parameter.isOwner(device.rank, sharded)) place(bits, parameter, device.rank, shard);
  // Every element has one owner, and the others add zeros to its bits as integers: -0 and every NaN
  // come through.
  return new Float32Array((await reduceArrays(device, stage, bits)).buffer);
}

function place(bits: Int32Array, parameter: Parameter, rank: number, { offset, values }: ShardView): void {
  const held = new Int32Array(values.buffer, values.byteOffset, values.length);
  for (const { logical, local, length } of boxRuns(parameter.shape, parameter.localRange(rank))) {
    const start = Math.max(local, offset);
    const end = Math.min(local + length, offset + held.length);
    if (start < end) bits.set(held.subarray(start - offset, end - offset), logical + start - local);
  }
}
