import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { init } from '#lib/device/init.js';
import type { FoldstepError } from '#lib/errors.js';

// Prints what the others get who want the job's ranks, or to work alone beside them.
const attempt = (...args: Parameters<typeof init>) =>
  init(...args).then(
    ({ size }) => size,
    (error: FoldstepError) => error.code,
  );

if (isMainThread) {
  const device = await init();
  const second = await attempt();
  const alone = await attempt({ launcher: 'none' });
  const [inWorker] = await once(new Worker(fileURLToPath(import.meta.url)), 'message');
  device.dispose();
  const again = await init();
  await again.world.barrier();
  if (again.rank === 0) console.log(JSON.stringify({ second, alone, inWorker, again: again.size }));
} else {
  parentPort!.postMessage([await attempt(), await attempt({ launcher: 'none' })]);
}
