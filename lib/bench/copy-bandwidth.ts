import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Device } from '../device/device.js';
import { gigabytesPerSecond, timeCalls, timingOf } from './measure.js';

const ROUNDS = 5;
/** Copied in a round at the least, so that starting together does not show. */
const ROUND_BYTES = 2 ** 27;
/** The least that a device copies in a round, in as many copies as it takes. A GPU does that in some milliseconds. */
const DEVICE_ROUND_BYTES = 2 ** 33;
/** A simulated device takes about as long for this. */
const SIMULATED_ROUND_BYTES = 2 ** 20;
const MOST_COPIES = 256;

/**
 * The machine's own streaming bandwidth in GB/s, read and written bytes counted, with none of foldstep's code: every core
 * copies its part of `footprint` bytes (sources and targets together) with the C library, all at once. The median of five
 * rounds.
 */
export async function copyBandwidth(footprint: number, threads = availableParallelism()): Promise<number> {
  const bytes = Math.max(64, Math.floor(footprint / 2 / threads));
  const repeats = Math.max(1, Math.ceil(ROUND_BYTES / threads / bytes));
  const workers = Array.from(
    { length: threads },
    () => new Worker(new URL('./copier.js', import.meta.url), { workerData: { bytes, repeats } }),
  );
  try {
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    const rounds: number[] = [];
    // One more, for warming up.
    for (let round = 0; round <= ROUNDS; round++) {
      const answers = workers.map((worker) => once(worker, 'message') as Promise<[number]>);
      for (const worker of workers) worker.postMessage('copy');
      const rates = await Promise.all(answers);
      if (round > 0) rounds.push(rates.reduce((sum, [rate]) => sum + rate, 0));
    }
    return timingOf(rounds).medianMs;
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

/** The same of a device that has memory of its own, which nobody else can measure from here: by its copies, on its stream. */
export async function deviceCopyBandwidth(device: Device, footprint: number): Promise<number> {
  const bytes = Math.max(64, Math.floor(footprint / 2));
  const round = device.kind === 'simulated' ? SIMULATED_ROUND_BYTES : DEVICE_ROUND_BYTES;
  const repeats = Math.min(MOST_COPIES, Math.ceil(round / bytes));
  const [source, target] = [device.allocate(bytes), device.allocate(bytes)];
  const [from, to] = [source.view('uint8'), target.view('uint8')];
  const samples = await timeCalls({ warmUps: 1, timed: ROUNDS }, () => {
    for (let i = 0; i < repeats; i++) device.copy(from, to);
    return device.stream.synchronize();
  });
  source.dispose();
  target.dispose();
  return gigabytesPerSecond(2 * bytes * repeats, timingOf(samples).medianMs);
}
