import type { Device } from '#lib/device/device.js';
import { refusal } from '../../support/refusal.js';

const PATHS = ['direct', 'owner', 'exchange', 'library'] as const;
const ELEMENTS = 8;

/** What is left, by path, after the elements from 2 to 5 were accumulated, and then those from 6. */
export async function partsOfElements(device: Device) {
  const { world } = device;
  using window = await device.createWindow(world, 8 * ELEMENTS);
  const gradient = window.buffer.view('float32', 0, ELEMENTS);
  const accumulator = window.buffer.view('float32', 4 * ELEMENTS, ELEMENTS);
  const team = { communicator: world, window };
  const left: Record<string, { accumulated: number[]; mirrored: number[] }> = {};
  for (const path of PATHS) {
    gradient.write(new Float32Array(ELEMENTS).fill(1 + device.rank));
    accumulator.write(new Float32Array(ELEMENTS).fill(10));
    await world.barrier();
    using operation = device.prepareAccumulate({ team, path, gradient, accumulator, mirror: true });
    operation.enqueue(device.stream, 2, 5);
    operation.enqueue(device.stream, 6, ELEMENTS);
    await device.stream.synchronize();
    left[path] = { accumulated: [...accumulator.read()], mirrored: [...gradient.read()] };
    await world.barrier();
  }
  return left;
}

/** The codes of operations on memory that peers do not reach, by path; and of ranges that were not prepared. */
export async function refusals(device: Device) {
  const { world } = device;
  using window = await device.createWindow(world, 8 * ELEMENTS);
  const inside = window.buffer.view('float32', 0, ELEMENTS);
  const outside = device.allocate(4 * ELEMENTS).view('float32');
  const own = device.allocate(4 * ELEMENTS).view('float32');
  const shared = { communicator: world, window };
  const codes: Record<string, Record<string, string>> = {};
  for (const path of PATHS) {
    const accumulate = (fields: object) => () =>
      device
        .prepareAccumulate({ team: shared, path, gradient: inside, accumulator: own, ...fields })
        .dispose();
    const code = (call: () => void) =>
      refusal(call).then(
        (refused) => refused.code,
        () => 'none',
      );
    using operation = device.prepareReduce({ team: shared, path, data: inside });
    codes[path] = {
      withoutWindow: await code(accumulate({ team: { communicator: world } })),
      gradientOutside: await code(accumulate({ gradient: outside })),
      accumulatorOutside: await code(accumulate({})),
      beyond: await code(() => operation.enqueue(device.stream, 0, ELEMENTS + 1)),
    };
  }
  return codes;
}
