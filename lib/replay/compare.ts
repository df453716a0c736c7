/** A value that JSON can carry for an error without bound: JSON has no infinity. */
const UNBOUNDED = Number.MAX_VALUE;

/** Largest |got - want|, element by element; unbounded for a NaN or an infinity on either side. */
export function largestDifference(got: ArrayLike<number>, want: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < want.length; i++) {
    const difference = Math.abs(got[i]! - want[i]!);
    if (!(difference <= UNBOUNDED)) return UNBOUNDED;
    if (difference > largest) largest = difference;
  }
  return largest;
}

/** Largest |value|; 0 of none. */
export function largestMagnitude(values: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, Math.abs(values[i]!));
  return largest;
}

/**
 * A difference relative to the magnitude of what was wanted; as it is where that is 0. Unbounded where either is: no
 * magnitude makes up for a value that is not finite.
 */
export function relativeTo(difference: number, magnitude: number): number {
  if (!(difference < UNBOUNDED && magnitude < Number.POSITIVE_INFINITY)) return UNBOUNDED;
  return Math.min(magnitude === 0 ? difference : difference / magnitude, UNBOUNDED);
}

/** The error of one number; unbounded for a NaN. */
export function relativeError(got: number, want: number): number {
  return relativeTo(largestDifference([got], [want]), Math.abs(want));
}
