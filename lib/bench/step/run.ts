import { availableParallelism } from 'node:os';
import type { Device, DeviceKind } from '../../device/device.js';
import { init } from '../../device/init.js';
import { FoldstepError } from '../../errors.js';
import { copyBandwidth, deviceCopyBandwidth } from '../copy-bandwidth.js';
import { describeHost, type Host } from '../host.js';
import { CALLS_PER_TURN, gigabytesPerSecond, type Timing, TURNS, timeCalls, timingOf } from '../measure.js';
import { askPeer, type PeerPresence, PeerTurns } from '../peers.js';
import { OPERATIONS, type Operation } from './operations.js';
import { timeWholeStep } from './whole-step.js';
import { ADAMW_OPTIONS, Workbench } from './workbench.js';

const PEER = { name: 'DeepSpeed CPUAdam on torch', script: 'step_deepspeed.py' };
/** Elements of a sample at the least: a call on few is repeated, so that waiting for it does not show. */
const ELEMENTS_PER_SAMPLE: Readonly<Record<string, number>> = { cpu: 2 ** 20, simulated: 1 };
const ELEMENTS_PER_GPU_SAMPLE = 2 ** 29;
/** Where elements are very few the call itself is what takes time. */
const MOST_REPEATS = 256;
export const WHOLE_STEP = { parameters: 1000, size: 256 };

/** What the peers' passes move, to put their times on the same scale as ours. */
const PEER_BYTES_PER_ELEMENT: Readonly<Record<string, number>> = {
  'torch-fp32-norm': OPERATIONS.norm.bytesPerElement,
  'deepspeed-adamw': OPERATIONS.adamw.bytesPerElement,
};

export interface StepOptions {
  readonly elements: readonly number[];
  readonly threads?: number;
  readonly device: DeviceKind;
  /** Whether to run DeepSpeed's CPUAdam and torch's norm too, in turn with ours. */
  readonly peers: boolean;
}

/** One operation at one size. */
export interface StepRow extends Timing {
  /** A key of OPERATIONS, `step` for the whole of it on many parameters, or a peer's. */
  readonly operation: string;
  readonly elements: number;
  readonly threads: number;
  /** Bytes that our pass reads and writes, over the time: on the peers' rows too. */
  readonly bandwidthGBs: number;
  /** Of the machine's own copy bandwidth at the same footprint. Null: there is none to compare with. */
  readonly fractionOfCopy: number | null;
  /** The ledger's peak. Null: not measured. */
  readonly temporaryPeakBytes: number | null;
}

export interface StepReport {
  readonly rows: readonly StepRow[];
  /** Machine's own copy bandwidth by footprint in bytes, from the same run. */
  readonly copyGBs: readonly { readonly footprint: number; readonly copyGBs: number }[];
  readonly peers: readonly PeerPresence[];
  readonly host: Host;
}

interface StepSamples {
  readonly operation: string;
  readonly elements: number;
  readonly samplesMs: readonly number[];
  /** Of our own operations alone. */
  readonly temporaryPeakBytes?: number;
}

/** Times every operation at every size, alone on all cores. Throws BenchmarkFailure for a wrong value. */
export async function benchStep(options: StepOptions): Promise<StepReport> {
  const cores = availableParallelism();
  const { elements, threads = cores } = options;
  if (threads > cores) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `${threads} threads would only wait for each other here: --threads may be at most ${cores}, one a core`,
    );
  }
  const samples: StepSamples[] = [];
  const copies = new Map<number, number>();
  const peer = new PeerTurns<StepSamples>(PEER.name);
  for (let turn = 0; turn < TURNS; turn++) {
    const device = await init({ device: options.device, launcher: 'none', threads });
    try {
      for (const footprint of footprintsOf(elements)) {
        const copyGBs =
          device.kind === 'cpu'
            ? await copyBandwidth(footprint, threads)
            : await deviceCopyBandwidth(device, footprint);
        copies.set(footprint, Math.max(copyGBs, copies.get(footprint) ?? 0));
      }
      for (const count of elements) samples.push(...(await measureSize(device, count)));
      const { parameters, size } = WHOLE_STEP;
      const what = { operation: 'step', elements: parameters * size };
      samples.push({
        ...what,
        ...(await measured(device, () => timeWholeStep(device, CALLS_PER_TURN, parameters, size))),
      });
    } finally {
      device.dispose();
    }
    if (!options.peers) continue;
    const answer = await askPeer<StepSamples>(PEER.script, {
      elements,
      repeats: elements.map((count) => repeatsOf(options.device, count)),
      threads,
      adamw: ADAMW_OPTIONS,
      coefficient: 0.5,
      ...CALLS_PER_TURN,
    });
    peer.add(answer);
  }
  return {
    rows: rowsOf([...samples, ...peer.rows], threads, copies),
    copyGBs: [...copies].map(([footprint, copyGBs]) => ({ footprint, copyGBs })),
    peers: peer.presence,
    host: describeHost(),
  };
}

async function measureSize(device: Device, elements: number): Promise<StepSamples[]> {
  const bench = new Workbench(device, elements);
  const samples: StepSamples[] = [];
  try {
    for (const [operation, what] of Object.entries(OPERATIONS)) {
      const result = await measured(device, () => measureOperation(device, bench, what));
      samples.push({ operation, elements, ...result });
    }
  } finally {
    bench.dispose();
  }
  return samples;
}

/** Calls of a sample, which has their mean. */
function repeatsOf(device: DeviceKind, elements: number): number {
  return Math.min(
    MOST_REPEATS,
    Math.ceil((ELEMENTS_PER_SAMPLE[device] ?? ELEMENTS_PER_GPU_SAMPLE) / elements),
  );
}

/** With the peak of the ledger over the whole of it. */
async function measured(
  device: Device,
  measure: () => Promise<number[]>,
): Promise<Pick<StepSamples, 'samplesMs' | 'temporaryPeakBytes'>> {
  device.temporaries.resetPeak();
  return { samplesMs: await measure(), temporaryPeakBytes: device.temporaries.peakBytes };
}

async function measureOperation(device: Device, bench: Workbench, what: Operation): Promise<number[]> {
  const { stream } = device;
  bench.reset();
  what.prepare(bench);
  what.enqueue(bench);
  await stream.synchronize();
  what.check(bench);
  const repeats = repeatsOf(device.kind, bench.elements);
  const samples = await timeCalls(
    CALLS_PER_TURN,
    () => {
      for (let i = 0; i < repeats; i++) what.enqueue(bench);
      return stream.synchronize();
    },
    () => {
      what.prepare(bench);
      return stream.synchronize();
    },
  );
  return samples.map((ms) => ms / repeats);
}

function rowsOf(
  samples: readonly StepSamples[],
  threads: number,
  copies: ReadonlyMap<number, number>,
): StepRow[] {
  const keys = new Map(
    samples.map(({ operation, elements }) => [`${operation} ${elements}`, { operation, elements }]),
  );
  return [...keys.values()].map(({ operation, elements }) => {
    const same = samples.filter((sample) => sample.operation === operation && sample.elements === elements);
    const timing = timingOf(same.flatMap(({ samplesMs }) => samplesMs));
    const bandwidthGBs = gigabytesPerSecond(bytesOf(operation, elements), timing.medianMs);
    const copyGBs = copies.get(footprintOf(bytesOf(operation, elements)));
    const peaks = same.flatMap(({ temporaryPeakBytes }) => temporaryPeakBytes ?? []);
    return {
      operation,
      elements,
      threads,
      ...timing,
      bandwidthGBs,
      fractionOfCopy: copyGBs === undefined ? null : bandwidthGBs / copyGBs,
      temporaryPeakBytes: peaks.length === 0 ? null : Math.max(...peaks),
    };
  });
}

function bytesOf(operation: string, elements: number): number {
  const ours: Readonly<Record<string, Operation>> = OPERATIONS;
  if (operation === 'step')
    return elements * (OPERATIONS.norm.bytesPerElement + OPERATIONS.adamw.bytesPerElement);
  return elements * (ours[operation]?.bytesPerElement ?? PEER_BYTES_PER_ELEMENT[operation]!);
}

function footprintsOf(elements: readonly number[]): Set<number> {
  const all = elements.flatMap((count) =>
    Object.keys(OPERATIONS).map((operation) => footprintOf(bytesOf(operation, count))),
  );
  return new Set(all.sort((a, b) => a - b));
}

/** Rounded to a power of two, so that few are measured; beyond 256 MiB no cache plays a part. */
function footprintOf(bytes: number): number {
  return Math.min(2 ** 28, 2 ** Math.round(Math.log2(bytes)));
}
