import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Communicator } from '#lib/device/communicator.js';
import { init } from '#lib/device/init.js';
import type { Stream } from '#lib/device/stream.js';

// Rank 0 waits for rank 1 eight times over, which comes only after rank 0 has read a file meanwhile.
const device = await init();
const groups: { communicator: Communicator; stream: Stream }[] = [];
for (let i = 0; i < 8; i++)
  groups.push({ communicator: await device.world.split(0), stream: device.createStream() });

let settled = 0;
const wait = () =>
  Promise.all(
    groups.map(async ({ communicator, stream }) => {
      await communicator.barrier(stream);
      settled++;
    }),
  );
if (device.rank === 0) {
  const waits = wait();
  const { length } = await readFile(fileURLToPath(import.meta.url));
  console.log(JSON.stringify({ read: length > 0, settledBefore: settled }));
  await device.world.barrier();
  await waits;
} else {
  await device.world.barrier();
  await wait();
}
device.dispose();
