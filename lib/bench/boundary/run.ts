import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DeviceKind } from '../../device/device.js';
import { describeEnding } from '../../launch/ending.js';
import { runJob } from '../../launch/job.js';
import { besideBusy } from '../busy/beside.js';
import { copyBandwidth } from '../copy-bandwidth.js';
import { BenchmarkFailure } from '../failure.js';
import { describeHost, type Host } from '../host.js';
import { CALLS_PER_TURN, gigabytesPerSecond, TURNS, timingOf } from '../measure.js';
import { askPeer, type PeerPresence, PeerTurns } from '../peers.js';
import {
  type BoundaryRow,
  type BoundarySamples,
  type BoundaryTask,
  leastBytes,
  type TurnSamples,
} from './result.js';

const RANK_PROGRAM = fileURLToPath(new URL('./rank.js', import.meta.url));
const PEER = { name: 'torch with gloo', script: 'boundary_torch.py' };
/** Far beyond any cache. */
const LIMIT_FOOTPRINT = 2 ** 28;

export interface BoundaryOptions {
  readonly elements: readonly number[];
  readonly ranks: number;
  readonly mirror: boolean;
  /** What our own paths run on. */
  readonly device: DeviceKind;
  /** Whether to run torch with gloo too, in turn with ours. */
  readonly peers: boolean;
  /** How many busy processes run beside the ranks in every second turn. 0: every turn is quiet. */
  readonly busy: number;
}

export interface BoundaryReport {
  readonly rows: readonly BoundaryRow[];
  /** The machine's own bandwidth at sizes beyond its caches, from the same run. Null: not of the device's memory. */
  readonly copyGBs: number | null;
  readonly peers: readonly PeerPresence[];
  readonly host: Host;
}

/** Times every way at every size. Throws BenchmarkFailure for a wrong value, LAUNCH_FAILED. */
export async function benchBoundary(options: BoundaryOptions): Promise<BoundaryReport> {
  const { elements, ranks, mirror, device } = options;
  const task: BoundaryTask = { elements, ranks, mirror, device, ...CALLS_PER_TURN };
  const samples: TurnSamples[] = [];
  const copies: number[] = [];
  const peer = new PeerTurns<TurnSamples>(PEER.name);
  const measure = async (busy: number): Promise<void> => {
    samples.push(...withBusy(await runRanks(task), busy));
    if (!options.peers) return;
    const answer = await askPeer<BoundarySamples>(PEER.script, task);
    peer.add('missing' in answer ? answer : { ...answer, rows: withBusy(answer.rows, busy) });
  };
  for (let turn = 0; turn < TURNS; turn++) {
    if (device === 'cpu') copies.push(await copyBandwidth(LIMIT_FOOTPRINT));
    await measure(0);
    if (options.busy > 0) await besideBusy(options.busy, () => measure(options.busy));
  }
  return {
    rows: rowsOf([...samples, ...peer.rows], task),
    copyGBs: copies.length === 0 ? null : Math.max(...copies),
    peers: peer.presence,
    host: describeHost(),
  };
}

function withBusy(samples: readonly BoundarySamples[], busy: number): TurnSamples[] {
  return samples.map((sample) => ({ ...sample, busy }));
}

async function runRanks(task: BoundaryTask): Promise<BoundarySamples[]> {
  const folder = mkdtempSync(join(tmpdir(), 'foldstep-bench-'));
  try {
    const file = join(folder, 'samples.json');
    const ending = await runJob({
      ranks: task.ranks,
      script: [RANK_PROGRAM, JSON.stringify(task), file],
      onLine: (line) => process.stderr.write(`${line}\n`),
    });
    if (ending.code !== 0) throw new BenchmarkFailure(`on ${task.ranks} ranks, ${describeEnding(ending)}`);
    return JSON.parse(readFileSync(file, 'utf8')) as BoundarySamples[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One row for each size, way and number of busy processes, the quiet one first; samples of all turns together. */
function rowsOf(samples: readonly TurnSamples[], task: BoundaryTask): BoundaryRow[] {
  return groupsOf(samples, ({ elements }) => elements).flatMap((ofSize) =>
    groupsOf(ofSize, ({ path }) => path).flatMap((ofPath) => {
      const [quiet, ...beside] = groupsOf(ofPath, ({ busy }) => busy).map((alike) => rowOf(alike, task));
      return [quiet!, ...beside.map((row) => ({ ...row, timesQuiet: row.medianMs / quiet!.medianMs }))];
    }),
  );
}

/** Samples that belong together, groups in the order in which they first appear. */
function groupsOf<Key>(
  samples: readonly TurnSamples[],
  keyOf: (sample: TurnSamples) => Key,
): (readonly TurnSamples[])[] {
  const keys = [...new Set(samples.map(keyOf))];
  return keys.map((key) => samples.filter((sample) => keyOf(sample) === key));
}

function rowOf(samples: readonly TurnSamples[], { ranks, mirror }: BoundaryTask): BoundaryRow {
  const { path, elements, busy, value, allocatorPeakBytes } = samples[0]!;
  const timing = timingOf(samples.flatMap(({ samplesMs }) => samplesMs));
  const peaks = samples.map(({ temporaryPeakBytes }) => temporaryPeakBytes);
  return {
    path,
    ranks,
    elements,
    busy,
    ...timing,
    temporaryPeakBytes: peaks.includes(null) ? null : Math.max(...(peaks as number[])),
    ...(allocatorPeakBytes === undefined
      ? {}
      : { allocatorPeakBytes: Math.max(...samples.map((sample) => sample.allocatorPeakBytes!)) }),
    bandwidthGBs: gigabytesPerSecond(leastBytes({ ranks, elements, mirror }), timing.medianMs),
    value,
  };
}
