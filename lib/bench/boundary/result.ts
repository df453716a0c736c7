import type { DeviceKind } from '../../device/device.js';
import type { CallCounts } from '../measure.js';

/** The ways over the boundary that are timed: two of the ancestors', and the paths of the library. */
export type WayName = 'bf16-round-trip' | 'fp32-staging' | 'library' | 'exchange' | 'owner' | 'direct';

/** What is asked of the ranks of a job, and of a peer, for one turn. */
export interface BoundaryTask extends CallCounts {
  readonly elements: readonly number[];
  readonly ranks: number;
  readonly mirror: boolean;
  readonly device: DeviceKind;
}

/** One way at one size, in one turn. */
export interface BoundarySamples {
  readonly path: string;
  readonly elements: number;
  /** Of each timed call: the slowest rank's time from the barrier to the awaited result. */
  readonly samplesMs: readonly number[];
  /** The most on any rank: the ledger's peak, and what a way of the ancestors holds to stage in. Null: not measured. */
  readonly temporaryPeakBytes: number | null;
  /** On GPUs, the most that CUDA's own allocator says was taken meanwhile, by all ranks of the device. */
  readonly allocatorPeakBytes?: number;
  /** What 1 and 1.0078125 average to. */
  readonly value: number;
}

/** The same, with the number of busy processes that ran beside the ranks. */
export interface TurnSamples extends BoundarySamples {
  readonly busy: number;
}

/** One way at one size and one number of busy processes, over all turns. */
export interface BoundaryRow {
  readonly path: string;
  readonly ranks: number;
  readonly elements: number;
  /** Processes that kept a core busy beside the ranks. */
  readonly busy: number;
  readonly medianMs: number;
  readonly p10Ms: number;
  readonly p90Ms: number;
  /** Beside busy processes: the median over the same way's quiet one. */
  readonly timesQuiet?: number;
  readonly temporaryPeakBytes: number | null;
  readonly allocatorPeakBytes?: number;
  /** See `leastBytes`. */
  readonly bandwidthGBs: number;
  readonly value: number;
}

/**
 * What any way must move through memory, all ranks together: each reads its BF16 gradient, reads and writes its FP32
 * accumulator, and writes the gradient if it is mirrored. The bandwidth of a way is this over its time.
 */
export function leastBytes({
  ranks,
  elements,
  mirror,
}: {
  ranks: number;
  elements: number;
  mirror: boolean;
}): number {
  return ranks * elements * (2 + 8 + (mirror ? 2 : 0));
}
