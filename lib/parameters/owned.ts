import type { Bucket, LayoutEntry } from './layout.js';
import type { Parameter } from './parameter.js';
import type { Range } from './slice.js';

/** Where a bucket lies in one rank's arenas. All in elements. */
export interface BucketPlacement {
  readonly bucket: Bucket;
  /**
   * Start in the arenas that hold every element: gradients and weights, and accumulators below ZeRO
   * 2.
   */
  readonly base: number;
  /** What this rank updates: elements of the bucket. */
  readonly own: Range;
  /**
   * Start of `own` in the arenas that hold nothing else: masters and moments, and accumulators at
   * ZeRO 2.
   */
  readonly ownBase: number;
  /** Start of `own` in the accumulator arena. */
  readonly accumulatorOwnBase: number;
  /**
   * What to add to an element of the bucket to find it in the accumulator arena: `own` alone at
   * ZeRO 2.
   */
  readonly accumulatorShift: number;
}

/** A run of elements that this rank updates, and where it begins in each arena. All in elements. */
export interface OwnedRun {
  readonly length: number;
  /** In the arenas of masters and moments. */
  readonly master: number;
  /** In the arena of accumulators. */
  readonly accumulator: number;
  /** In the arenas of weights and gradients. */
  readonly weight: number;
}

/** What this rank updates of one parameter. The places of an empty part are all 0. */
export interface OwnedPart extends OwnedRun {
  readonly placement: BucketPlacement;
  readonly entry: LayoutEntry;
  /** Elements of the bucket. */
  readonly range: Range;
  /** Start in the parameter's flattened local part. */
  readonly offset: number;
}

/** Neighbouring parameters that this rank updates and that have one key. */
export interface OwnedStretch<Key> extends OwnedRun {
  readonly key: Key;
}

/**
 * The part of a parameter that this rank updates: where the parameter and this rank's shard of the
 * bucket overlap.
 */
export function ownedPart(placement: BucketPlacement, entry: LayoutEntry): OwnedPart {
  const { own } = placement;
  const last = entry.offset + entry.size;
  const start = Math.min(Math.max(entry.offset, own.start), last);
  const range = { start, end: Math.max(start, Math.min(last, own.end)) };
  return { placement, entry, range, offset: start - entry.offset, ...runOf(placement, range) };
}

/**
 * Joins neighbours of one bucket and one key, with the padding between them, in the order of
 * `parts`. The padding of an arena is always zero, so one pass may run over it. `keyOf` says what
 * neighbours must have in common.
 */
export function stretchesOf<Key>(
  parts: Iterable<OwnedPart>,
  keyOf: (parameter: Parameter) => Key,
): OwnedStretch<Key>[] {
  const stretches: { placement: BucketPlacement; start: number; end: number; key: Key }[] = [];
  for (const { placement, entry, range } of parts) {
    const key = keyOf(entry.parameter);
    const last = stretches.at(-1);
    if (last?.placement === placement && last.key === key) last.end = range.end;
    else stretches.push({ placement, ...range, key });
  }
  return stretches.map(({ placement, start, end, key }) => ({ ...runOf(placement, { start, end }), key }));
}

function runOf({ base, own, ownBase, accumulatorShift }: BucketPlacement, { start, end }: Range): OwnedRun {
  if (start === end) return { length: 0, master: 0, accumulator: 0, weight: 0 };
  return {
    length: end - start,
    master: ownBase + start - own.start,
    accumulator: accumulatorShift + start,
    weight: base + start,
  };
}
