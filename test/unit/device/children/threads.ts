import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';

// Works in several worker threads and the main thread at once, then ends workers in mid-call; prints what held.
const BYTES = 8 << 20;

async function work(device: Device, value: number): Promise<boolean> {
  const bytes = device.allocate(2 * BYTES).view('uint8');
  const [source, target] = [bytes.subview(0, BYTES), bytes.subview(BYTES, 2 * BYTES)];
  source.array.fill(value);
  for (let i = 0; i < 5; i++) {
    device.zero(target);
    device.copy(source, target);
    await device.stream.synchronize();
    if (!target.array.every((byte) => byte === value)) return false;
  }
  return true;
}

async function workForever(device: Device): Promise<void> {
  const bytes = device.allocate(2 * BYTES).view('uint8');
  parentPort!.postMessage('begun');
  while (true) {
    for (let i = 0; i < 8; i++) device.copy(bytes.subview(0, BYTES), bytes.subview(BYTES, 2 * BYTES));
    void device.world.allReduce(bytes);
    await device.stream.synchronize();
  }
}

const device = await init();
if (isMainThread) {
  const start = (task: string) => new Worker(fileURLToPath(import.meta.url), { argv: [task] });
  const answers = ['1', '2', '3'].map(async (task) => (await once(start(task), 'message'))[0] as boolean);
  const right = await Promise.all([work(device, 9), ...answers]);
  for (let round = 0; round < 10; round++) {
    const worker = start('forever');
    await once(worker, 'message');
    await new Promise((resolve) => setTimeout(resolve, round));
    await worker.terminate();
  }
  console.log(JSON.stringify({ right, afterwards: await work(device, 5) }));
} else if (process.argv[2] === 'forever') {
  await workForever(device);
} else {
  parentPort!.postMessage(await work(device, Number(process.argv[2])));
}
