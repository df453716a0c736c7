import type { Bucket, FlatLayout } from '../parameters/layout.js';
import { ALIGNMENT } from '../parameters/layout.js';
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
 * The runs that hold the named parameters, neighbours joined, in layout order: the same on every rank, whatever the order
 * of the names. Throws UNKNOWN_PARAMETER.
 */
export function rangesOf(layout: FlatLayout, names: Iterable<string>): BucketRange[] {
  const wanted = new Set(names);
  for (const name of wanted) layout.entry(name);
  const ranges: BucketRange[] = [];
  for (const bucket of layout.buckets) {
    let open: { start: number; end: number } | undefined;
    for (const { parameter, offset, size } of bucket.entries) {
      if (!wanted.has(parameter.name)) continue;
      // Between two parameters lies less padding than the alignment, and it is zero.
      if (open && offset - open.end < ALIGNMENT) {
        open.end = offset + size;
      } else {
        if (open) ranges.push({ bucket, ...open });
        open = { start: offset, end: offset + size };
      }
    }
    if (open) ranges.push({ bucket, ...open });
  }
  return ranges;
}
