import { newFloats } from './checks.js';

/** Row `order(i)` of `source`, for each i below `count`. Row-major, `width` elements a row. */
export function takeRows(
  source: Float32Array,
  width: number,
  count: number,
  order: (i: number) => number,
): Float32Array {
  const taken = newFloats(count * width);
  for (let i = 0; i < count; i++) {
    const from = order(i) * width;
    taken.set(source.subarray(from, from + width), i * width);
  }
  return taken;
}

/** Puts row i of `source` in the place `order[i]`, for every i: `takeRows` undone where the order is a permutation. */
export function placeRows(source: Float32Array, width: number, order: Int32Array): Float32Array {
  const placed = new Float32Array(source.length);
  for (const [i, place] of order.entries()) {
    placed.set(source.subarray(i * width, (i + 1) * width), place * width);
  }
  return placed;
}

/** Adds every `group` rows that follow each other, in order, into the rows of `target` from element `at`. */
export function sumRows(
  source: Float32Array,
  width: number,
  group: number,
  target: Float32Array,
  at: number,
): void {
  for (let row = 0; row * width < source.length; row++) {
    const to = at + Math.floor(row / group) * width;
    for (let i = 0; i < width; i++) target[to + i]! += source[row * width + i]!;
  }
}
