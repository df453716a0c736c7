import type { Device } from '#lib/device/device.js';
import { fold, write } from '../../support/fold.js';

export const deadlineMs = 1500;

/** Rank 1 accumulates twice where rank 0 does once, and accumulating is a collective. */
export async function onceMore(device: Device) {
  using optimizer = await fold(device, { tp: 2 }, [{ name: 'w', shape: [4], family: 'dense' }]);
  write(optimizer, { w: 1 });
  await optimizer.accumulate();
  await (device.rank === 1 ? optimizer.accumulate() : optimizer.step());
}
