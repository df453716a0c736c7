import type { View } from '../device/view.js';
import type { OwnedPart } from '../parameters/owned.js';

/**
 * What this rank holds of a parameter: elements [offset, offset + values.length) of its flattened
 * local part.
 */
export interface ShardView {
  readonly offset: number;
  /** FP32; the memory itself where JavaScript sees it (`View.visible`), else a copy. */
  readonly values: Float32Array;
}

/** The elements of an owned part in an arena, in which it begins at element `start`. */
export function shardOf(arena: View, { length }: OwnedPart, start: number): View {
  return arena.subview(start, start + length);
}

/** What a caller sees of an owned part's elements. */
export function seen({ offset }: OwnedPart, view: View): ShardView {
  const values = view.visible ? view.array : view.read();
  return { offset, values: values as Float32Array };
}
