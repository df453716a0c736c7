import { checkIterable } from '../arguments.js';
import { type BucketRange, rangesOf, wholeLayout } from '../gradients/ranges.js';
import type { Placement } from '../parameters/placement.js';
import type { Range } from '../parameters/slice.js';

/** Parameters that are accumulated together, and what follows from them. */
export interface Selection {
  /** Whether these are all parameters, because no names were given. */
  readonly whole: boolean;
  /** Each parameter once. */
  readonly names: readonly string[];
  /** What is corrected in one pass each. */
  readonly ranges: readonly BucketRange[];
  /** Elements of the arenas that hold every element, for each name. */
  readonly places: readonly Range[];
}

/** All parameters. Make it once: it does some work for each of them. */
export function selectAll(placement: Placement): Selection {
  const { layout } = placement;
  const names = layout.parameters.map(({ name }) => name);
  return { whole: true, names, ranges: wholeLayout(layout), places: placesOf(placement, names) };
}

/**
 * The parameters that a caller names. Throws INVALID_ARGUMENT for what is no list,
 * UNKNOWN_PARAMETER.
 */
export function selectNamed(placement: Placement, given: Iterable<string>): Selection {
  const { layout } = placement;
  const entries = checkIterable('names', given, (name) => layout.entry(name));
  const names = [...new Set(entries.map(({ entry }) => entry.parameter.name))];
  return { whole: false, names, ranges: rangesOf(layout, entries), places: placesOf(placement, names) };
}

function placesOf(placement: Placement, names: readonly string[]): Range[] {
  return names.map((name) => placement.placeOf(name));
}
