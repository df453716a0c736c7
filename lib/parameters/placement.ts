import type { Bucket, FlatLayout } from './layout.js';
import { type BucketPlacement, type OwnedPart, ownedPart } from './owned.js';
import type { Range } from './slice.js';

/** ZeRO stages that foldstep has: 0 nothing sharded, 1 masters and moments, 2 accumulators too. */
export type ZeroStage = 0 | 1 | 2;

export type { BucketPlacement, OwnedPart, OwnedRun } from './owned.js';

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

  /** The part of a parameter that this rank updates; it may be empty. Throws UNKNOWN_PARAMETER. */
  ownedOf(name: string): OwnedPart {
    const { bucket, entry } = this.layout.entry(name);
    return ownedPart(this.of(bucket), entry);
  }

  /** The parts of all parameters that this rank updates, in layout order. None is empty. */
  *ownedRuns(): Generator<OwnedPart> {
    for (const placement of this.buckets) {
      for (const entry of placement.bucket.entries) {
        const part = ownedPart(placement, entry);
        if (part.length > 0) yield part;
      }
    }
  }
}
