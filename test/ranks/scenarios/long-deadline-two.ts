import type { Device } from '#lib/device/device.js';

/** In nanoseconds it is more than 2^63. */
export const deadlineMs = 9_300_000_000_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Long enough for rank 0 to look at the deadline many times. */
const late = (device: Device) => pause(device.rank === 1 ? 300 : 0);

export async function aBarrier(device: Device) {
  await late(device);
  device.world.barrier();
  await device.stream.synchronize();
}

export async function aPassInAWindow(device: Device) {
  using window = await device.createWindow(device.world, 16);
  const data = window.buffer.view('float32');
  data.array.fill(device.rank + 1);
  await late(device);
  const team = { communicator: device.world, window };
  device.prepareReduce({ team, path: 'owner', data }).enqueueOnce();
  await device.stream.synchronize();
  return [...data.array];
}
