import type { ArrayOf } from '../device/dtype.js';
import type { View } from '../device/view.js';
import { BenchmarkFailure } from './failure.js';

/** Data repeats with this period: a prime, so that an element out of its place is found out. */
export const PERIOD = 61;

type Numbers = Float32Array | Uint16Array;

/** One period of eighths from -15/8 to 15/8, exact in BF16; it differs from `seed` to `seed`. */
export function eighths(seed: number): Float32Array {
  return Float32Array.from({ length: PERIOD }, (_, k) => (((k * 7 + seed * 3) % 31) - 15) / 8);
}

/** Repeats one period over all of `target`. */
export function repeat(target: Numbers, period: Numbers): void {
  target.set(period.subarray(0, Math.min(PERIOD, target.length)));
  for (let filled = PERIOD; filled < target.length; filled *= 2) target.copyWithin(filled, 0, filled);
}

/** Writes one period over and over into a view. */
export function fill<D extends 'float32' | 'bfloat16'>(view: View<D>, period: ArrayOf<D>): void {
  const values = view.dtype === 'float32' ? new Float32Array(view.length) : new Uint16Array(view.length);
  repeat(values, period);
  view.write(values as ArrayOf<D>);
}

/** Throws BenchmarkFailure unless every element of `actual` is that of the period, to `tolerance` of its size. */
export function checkPeriodic(
  what: string,
  actual: Numbers,
  period: ArrayLike<number>,
  tolerance: number,
): void {
  for (let i = 0, k = 0; i < actual.length; i++, k = k + 1 === PERIOD ? 0 : k + 1) {
    const expected = period[k]!;
    if (Math.abs(actual[i]! - expected) <= tolerance * Math.abs(expected)) continue;
    throw new BenchmarkFailure(
      `${what}: element ${i} is ${actual[i]} and must be ${expected}; no time is reported for a wrong result`,
    );
  }
}

/** Throws BenchmarkFailure unless `actual` is `expected` to `tolerance` of its size. */
export function checkValue(what: string, actual: number, expected: number, tolerance: number): void {
  if (Math.abs(actual - expected) <= tolerance * Math.abs(expected)) return;
  throw new BenchmarkFailure(
    `${what} is ${actual} and must be ${expected}; no time is reported for a wrong result`,
  );
}
