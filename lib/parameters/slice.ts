/** Elements start to end - 1 of one dimension, or of a flat buffer. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Element types a tensor comes in: FP32, BF16 bits, FP64. */
export type TensorArray = Float32Array | Uint16Array | Float64Array;

/** `length` elements that lie side by side both in a tensor, from `logical`, and in a box cut out of it, from `local`. */
export interface BoxRun {
  readonly logical: number;
  readonly local: number;
  readonly length: number;
}

/** Copies the box `ranges` (one range per dimension) out of a row-major tensor of `shape`. */
export function sliceBox<T extends TensorArray>(
  logical: T,
  shape: readonly number[],
  ranges: readonly Range[],
): T {
  const elements = ranges.reduce((product, { start, end }) => product * (end - start), 1);
  const box = new (logical.constructor as new (length: number) => T)(elements);
  for (const { logical: from, local: to, length } of boxRuns(shape, ranges)) {
    box.set(logical.subarray(from, from + length), to);
  }
  return box;
}

/** Where the elements of the box `ranges` lie in a row-major tensor of `shape`, in the order of the box. */
export function* boxRuns(shape: readonly number[], ranges: readonly Range[]): Generator<BoxRun> {
  const extents = ranges.map(({ start, end }) => end - start);
  const elements = extents.reduce((product, extent) => product * extent, 1);

  // From the innermost cut dimension on, the box's elements lie side by side.
  const inner = Math.max(
    0,
    ranges.findLastIndex(({ start, end }, d) => start !== 0 || end !== shape[d]),
  );
  const strides = shape.map((_, d) => shape.slice(d + 1).reduce((product, size) => product * size, 1));
  const run = extents.slice(inner).reduce((product, extent) => product * extent, 1);
  const at = ranges.slice(0, inner).map(({ start }) => start);
  const innerOffset = shape.length === 0 ? 0 : ranges[inner]!.start * strides[inner]!;
  for (let local = 0; local < elements; local += run) {
    yield {
      logical: at.reduce((sum, index, d) => sum + index * strides[d]!, innerOffset),
      local,
      length: run,
    };
    for (let d = inner - 1; d >= 0; d--) {
      at[d]! += 1;
      if (at[d]! < ranges[d]!.end) break;
      at[d] = ranges[d]!.start;
    }
  }
}
