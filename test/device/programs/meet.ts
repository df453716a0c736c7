import { init } from '#lib/device/init.js';
import { FoldstepError } from '#lib/errors.js';

// A rank that joins with the options given as JSON, sums over the world and accumulates in a window; prints what came, or
// the error's code and text, as one line.
const tell = (what: unknown): void => {
  process.stdout.write(`${JSON.stringify(what)}\n`);
};
try {
  const device = await init(JSON.parse(process.argv[2]!));
  const { world } = device;
  const view = device.allocate(4).view('float32');
  view.write(Float32Array.of(1 + device.rank));
  await world.allReduce(view);
  const window = await device.createWindow(world, 64);
  const gradient = window.buffer.view('float32', 0, 2);
  const accumulator = window.buffer.view('float32', 32, 2);
  gradient.write(Float32Array.of(1, 1 + device.rank));
  await world.barrier();
  const team = { communicator: world, window };
  device.prepareAccumulate({ team, path: 'direct', gradient, accumulator }).enqueueOnce();
  await device.stream.synchronize();
  const { collectives } = device.describe();
  tell({ rank: device.rank, sum: view.read()[0], accumulated: [...accumulator.read()], collectives });
} catch (error) {
  if (!(error instanceof FoldstepError)) throw error;
  tell({ code: error.code, message: error.message, peer: error.peer });
}
// At once: a rank that has been dropped keeps the others waiting for its goodbye.
process.exit(0);
