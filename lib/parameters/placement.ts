import type { Bucket, FlatLayout, LayoutEntry } from './layout.js';
import type { Range } from './slice.js';

/** ZeRO stages that foldstep has: 0 nothing sharded, 1 masters and moments, 2 accumulators too. */
export type ZeroStage = 0 | 1 | 2;

/** Where a bucket lies in one rank's arenas. All in elements. */
export interface BucketPlacement {
  readonly bucket: Bucket;
  /** Start in the arenas that hold every element: gradients and weights, and accumulators below ZeRO 2. */
  readonly base: number;
  /** What this rank updates: elements of the bucket. */
  readonly own: Range;
  /** Start of `own` in the arenas that hold nothing else: masters and moments, and accumulators at ZeRO 2. */
  readonly ownBase: number;
  /** Start of `own` in the accumulator arena. */
  readonly accumulatorOwnBase: number;
  /** What to add to an element of the bucket to find it in the accumulator arena: `own` alone at ZeRO 2. */
  readonly accumulatorShift: number;
}

/** A run of one parameter's elements that this rank updates. */
export interface OwnedRun {
  readonly placement: BucketPlacement;
  readonly entry: LayoutEntry;
  /** Elements of the bucket. */
  readonly range: Range;
}

/** One rank's arenas: what it holds of a layout at a ZeRO stage. */
export class Placement {
  readonly layout: FlatLayout;
  readonly zeroStage: ZeroStage;
  readonly buckets: readonly BucketPlacement[];
  /** Elements of every bucket. */
  readonly total: number;
  /** Elements this rank updates. */
  readonly owned: number;
  /** Elements of the accumulator arena. */
  readonly accumulators: number;

  constructor(layout: FlatLayout, rank: number, zeroStage: ZeroStage) {
    this.layout = layout;
    this.zeroStage = zeroStage;
    let base = 0;
    let ownBase = 0;
    this.buckets = layout.buckets.map((bucket) => {
      const own =
        zeroStage === 0
          ? { start: 0, end: bucket.length }
          : bucket.shard(bucket.grid.coordinate(rank, bucket.dataAxis));
      const shardedAccumulator = zeroStage === 2;
      const placement = {
        bucket,
        base,
        own,
        ownBase,
        accumulatorOwnBase: shardedAccumulator ? ownBase : base + own.start,
        accumulatorShift: shardedAccumulator ? ownBase - own.start : base,
      };
      base += bucket.length;
      ownBase += own.end - own.start;
      return placement;
    });
    this.total = base;
    this.owned = ownBase;
    this.accumulators = zeroStage === 2 ? ownBase : base;
  }

  /** Whether a rank's reduced gradient is its shard alone. */
  get sharded(): boolean {
    return this.zeroStage > 0;
  }

  of(bucket: Bucket): BucketPlacement {
    return this.buckets[this.layout.buckets.indexOf(bucket)]!;
  }

  /** A parameter's elements in the arenas that hold every element. Throws UNKNOWN_PARAMETER. */
  placeOf(name: string): Range {
    const { bucket, entry } = this.layout.entry(name);
    const start = this.of(bucket).base + entry.offset;
    return { start, end: start + entry.size };
  }

  /** What this rank updates, parameter by parameter in layout order; none is empty. */
  *ownedRuns(): Generator<OwnedRun> {
    for (const placement of this.buckets) {
      for (const entry of placement.bucket.entries) {
        const start = Math.max(entry.offset, placement.own.start);
        const end = Math.min(entry.offset + entry.size, placement.own.end);
        if (start < end) yield { placement, entry, range: { start, end } };
      }
    }
  }
}
