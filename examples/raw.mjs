// The operations under the optimizer, on buffers of one's own.
// Run it with: npx foldstep run -n 2 examples/raw.mjs
import { init, toBFloat16 } from 'foldstep';

const device = await init();
const elements = 1024;

// Memory that the ranks of a communicator map into each other; `device.allocate` gives memory of this rank alone.
const window = await device.createWindow(device.world, 6 * elements);
const gradient = window.buffer.view('bfloat16', 0, elements);
const accumulator = window.buffer.view('float32', 2 * elements, elements);

gradient.array.set(toBFloat16(new Float32Array(elements).fill(device.rank === 0 ? 1 : 1.0078125)));
const team = { communicator: device.world, window };
// Checked once; a training enqueues it at every micro-batch.
const average = device.prepareAccumulate({
  team,
  path: 'direct',
  gradient,
  accumulator,
  scale: 1 / device.size,
});
average.enqueue();
device.cast(accumulator, gradient); // enqueued behind it
await device.stream.synchronize(); // both are done, or the first error is thrown

const total = device.allocate(4).view('float32');
total.array[0] = accumulator.array[0];
await device.world.allReduce(total, 'sum');
if (device.rank === 0) console.log(`average ${accumulator.array[0]}, summed over ranks ${total.array[0]}`);
