import type { View } from '../device/view.js';
import type { LayoutEntry } from '../parameters/layout.js';
import type { BucketPlacement } from '../parameters/placement.js';

/** What this rank holds of a parameter: elements [offset, offset + values.length) of its flattened local part. */
export interface ShardView {
  readonly offset: number;
  /** FP32; the memory itself where JavaScript sees it (`View.visible`), else a copy. */
  readonly values: Float32Array;
}

/** Where this rank's elements of a parameter lie in an arena of owned elements. */
export function shardOf(arena: View, { own }: BucketPlacement, entry: LayoutEntry, ownBase: number) {
  const start = Math.min(Math.max(entry.offset, own.start), entry.offset + entry.size);
  const end = Math.max(start, Math.min(entry.offset + entry.size, own.end));
  const length = end - start;
  const base = length === 0 ? 0 : ownBase - own.start + start;
  return { offset: start - entry.offset, view: arena.subview(base, base + length) };
}

export function seen({ offset, view }: { offset: number; view: View }): ShardView {
  const values = view.visible ? view.array : view.read();
  return { offset, values: values as Float32Array };
}
