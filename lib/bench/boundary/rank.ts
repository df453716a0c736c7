import { writeFileSync } from 'node:fs';
import type { Device } from '../../device/device.js';
import { init } from '../../device/init.js';
import { reduceArrays } from '../../device/small-arrays.js';
import { FoldstepError } from '../../errors.js';
import { BenchmarkFailure } from '../failure.js';
import { timeCalls } from '../measure.js';
import { Lanes } from './lanes.js';
import type { BoundarySamples, BoundaryTask } from './result.js';
import { WAYS, type Way } from './ways.js';

// The program that each rank of a turn runs; `benchBoundary` starts it. Rank 0 leaves the samples in a file.
const [text, file] = process.argv.slice(2) as [string, string];
try {
  const task = JSON.parse(text) as BoundaryTask;
  const device = await init({ device: task.device });
  const samples = await measure(device, task);
  if (device.rank === 0) writeFileSync(file, JSON.stringify(samples));
  device.dispose();
} catch (error) {
  const known = error instanceof FoldstepError || error instanceof BenchmarkFailure;
  process.stderr.write(`foldstep: ${known ? error.message : String((error as Error).stack)}\n`);
  // At once: the other ranks are waiting for this one.
  process.exit(1);
}

async function measure(device: Device, task: BoundaryTask): Promise<BoundarySamples[]> {
  const samples: BoundarySamples[] = [];
  for (const elements of task.elements) {
    const lanes = await Lanes.create(device, elements, task.mirror);
    for (const [path, make] of Object.entries(WAYS)) {
      const way = make(lanes);
      samples.push({ path, elements, ...(await measureWay(device, lanes, path, way, task)) });
      way.dispose();
    }
    lanes.dispose();
  }
  return samples;
}

async function measureWay(device: Device, lanes: Lanes, path: string, way: Way, task: BoundaryTask) {
  const { stream, temporaries } = device;
  const call = (): Promise<void> => {
    way.enqueue();
    return stream.synchronize();
  };
  temporaries.resetPeak();
  const own = await timeCalls(task, call, () => {
    lanes.restore();
    return device.world.barrier();
  });
  const peak = temporaries.peakBytes + way.stagingBytes;
  const allocatorPeak = Number(device.describe()['allocator peak bytes'] ?? 0) + way.stagingBytes;
  device.zero(lanes.accumulator);
  lanes.restore();
  await device.world.barrier();
  await call();
  await device.world.barrier();
  const value = lanes.check(path, way);
  const [temporaryPeakBytes, allocatorPeakBytes, ...samplesMs] = await reduceArrays(
    device,
    device.world,
    Float64Array.of(peak, allocatorPeak, ...own),
    'max',
  );
  return {
    samplesMs,
    temporaryPeakBytes: temporaryPeakBytes!,
    ...(device.kind === 'cpu' ? {} : { allocatorPeakBytes: allocatorPeakBytes! }),
    value,
  };
}
