import { toBFloat16 } from '#lib/device/bfloat16.js';
import type { Device } from '#lib/device/device.js';

/** The peak of one correct-and-accumulate, by path and size, with and without a mirror; and what it gives. */
export async function peaks(device: Device) {
  const { world } = device;
  const results: {
    path: string;
    elements: number;
    mirror: boolean;
    peak: number;
    left: number;
    value: number;
  }[] = [];
  for (const elements of [2 ** 10, 2 ** 20, 2 ** 23]) {
    using window = await device.createWindow(world, 6 * elements);
    const gradient = window.buffer.view('bfloat16', 0, elements);
    const accumulator = window.buffer.view('float32', 2 * elements, elements);
    for (const path of ['direct', 'owner', 'exchange', 'library'] as const) {
      for (const mirror of [false, true]) {
        const [bits] = toBFloat16(Float32Array.of(device.rank === 0 ? 1 : 1.0078125));
        gradient.write(new Uint16Array(elements).fill(bits!));
        accumulator.write(new Float32Array(elements));
        await world.barrier();
        device.temporaries.resetPeak();
        const team = { communicator: world, window };
        device.prepareAccumulate({ team, path, gradient, accumulator, scale: 0.5, mirror }).enqueueOnce();
        await device.stream.synchronize();
        results.push({
          path,
          elements,
          mirror,
          peak: device.temporaries.peakBytes,
          left: device.temporaries.currentBytes,
          value: accumulator.subview(elements - 1, elements).read()[0]!,
        });
        await world.barrier();
      }
    }
  }
  return results;
}
