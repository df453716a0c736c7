import { ALIGNMENT, type Bucket, type FlatLayout, type LayoutEntry } from '../parameters/layout.js';
import type { Range } from '../parameters/slice.js';

/** A run of a bucket's elements that is corrected in one pass. */
export interface BucketRange extends Range {
  readonly bucket: Bucket;
}

/** Every bucket, whole. */
export function wholeLayout(layout: FlatLayout): BucketRange[] {
  return layout.buckets.map((bucket) => ({ bucket, start: 0, end: bucket.length }));
}

/**
 * The runs that hold some parameters, neighbours joined, in layout order: the same on every rank,
 * whatever the order in which the parameters are given. `places` is what `FlatLayout.entry` gives
 * for each; it may give one more than once.
 */
export function rangesOf(
  layout: FlatLayout,
  places: Iterable<{ readonly bucket: Bucket; readonly entry: LayoutEntry }>,
): BucketRange[] {
  const sorted = [...places]
    .map(({ bucket, entry }) => ({ bucket, entry, index: layout.buckets.indexOf(bucket) }))
    .sort((a, b) => a.index - b.index || a.entry.offset - b.entry.offset);
  const ranges: { bucket: Bucket; start: number; end: number }[] = [];
  for (const { bucket, entry } of sorted) {
    const [start, end] = [entry.offset, entry.offset + entry.size];
    const last = ranges.at(-1);
    // Between two neighbours lies less padding than the alignment, and it is zero.
    if (last?.bucket === bucket && start - last.end < ALIGNMENT) last.end = Math.max(last.end, end);
    else ranges.push({ bucket, start, end });
  }
  return ranges;
}
