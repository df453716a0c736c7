import { parentPort, workerData } from 'node:worker_threads';
import { gigabytesPerSecond } from './measure.js';

// One thread of `copyBandwidth`: copies its bytes with the C library's memmove at each message, and answers with GB/s.
const { bytes, repeats } = workerData as { bytes: number; repeats: number };
const source = new Uint8Array(bytes).fill(1);
const target = new Uint8Array(bytes).fill(2);
parentPort!.on('message', () => {
  const start = performance.now();
  for (let i = 0; i < repeats; i++) target.set(source);
  parentPort!.postMessage(gigabytesPerSecond(2 * bytes * repeats, performance.now() - start));
});
parentPort!.postMessage(0);
