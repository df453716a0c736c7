import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DeviceKind } from '../../device/device.js';
import { describeEnding } from '../../launch/ending.js';
import { runJob } from '../../launch/job.js';
import { copyBandwidth } from '../copy-bandwidth.js';
import { BenchmarkFailure } from '../failure.js';
import { describeHost, type Host } from '../host.js';
import { CALLS_PER_TURN, gigabytesPerSecond, TURNS, timingOf } from '../measure.js';
import { askPeer, type PeerPresence, PeerTurns } from '../peers.js';
import { type BoundaryRow, type BoundarySamples, type BoundaryTask, leastBytes } from './result.js';

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
  const samples: BoundarySamples[] = [];
  const copies: number[] = [];
  const peer = new PeerTurns<BoundarySamples>(PEER.name);
  for (let turn = 0; turn < TURNS; turn++) {
    if (device === 'cpu') copies.push(await copyBandwidth(LIMIT_FOOTPRINT));
    samples.push(...(await runRanks(task)));
    if (options.peers) peer.add(await askPeer(PEER.script, task));
  }
  return {
    rows: rowsOf([...samples, ...peer.rows], task),
    copyGBs: copies.length === 0 ? null : Math.max(...copies),
    peers: peer.presence,
    host: describeHost(),
  };
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

/** One row for each size and way, samples of all turns together. */
function rowsOf(samples: readonly BoundarySamples[], { ranks, mirror }: BoundaryTask): BoundaryRow[] {
  const sizes = [...new Set(samples.map(({ elements }) => elements))];
  return sizes.flatMap((elements) => {
    const ofSize = samples.filter((sample) => sample.elements === elements);
    return [...new Set(ofSize.map(({ path }) => path))].map((path) => {
      const ofPath = ofSize.filter((sample) => sample.path === path);
      const timing = timingOf(ofPath.flatMap(({ samplesMs }) => samplesMs));
      const peaks = ofPath.map(({ temporaryPeakBytes }) => temporaryPeakBytes);
      return {
        path,
        ranks,
        elements,
        ...timing,
        temporaryPeakBytes: peaks.includes(null) ? null : Math.max(...(peaks as number[])),
        ...(ofPath[0]!.allocatorPeakBytes === undefined
          ? {}
          : { allocatorPeakBytes: Math.max(...ofPath.map((sample) => sample.allocatorPeakBytes!)) }),
        bandwidthGBs: gigabytesPerSecond(leastBytes({ ranks, elements, mirror }), timing.medianMs),
        value: ofPath[0]!.value,
      };
    });
  });
}
