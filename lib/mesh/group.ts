import { checkList, checkObject, reading } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';

/** One axis of a grid: `size` coordinates, `stride` ranks apart. */
export interface Axis {
  readonly name: string;
  readonly size: number;
  readonly stride: number;
}

/**
 * The ranks that share every coordinate but those of some axes, in ascending rank order.
 *
 * Held as a first rank and a few (size, stride) pairs, so a group of a million ranks costs what a group of one does;
 * only `ranks()` takes time and memory in the group's size.
 */
export class RankGroup {
  /** Number of ranks in the group. */
  readonly size: number;
  /** Position in the group of the rank it was asked for. */
  readonly index: number;
  readonly #base: number;
  readonly #axes: readonly Axis[];

  /** `axes` are the varying axes, fastest first; `base` is the group's first rank. Use `Grid.group` to get one. */
  constructor(base: number, axes: readonly Axis[], rank: number) {
    this.#base = base;
    this.#axes = checkList('the axes of a group', axes, (axis) => {
      checkObject('an axis of a group', axis);
      return axis;
    });
    this.size = reading('the axes of a group', () =>
      this.#axes.reduce((product, { size }) => product * size, 1),
    );
    this.index = reading('the first rank of a group', () => this.indexOf(rank));
  }

  /** World rank of member `i`, 0 <= i < size. Throws INVALID_ARGUMENT outside that range. */
  at(i: number): number {
    if (!Number.isInteger(i) || i < 0 || i >= this.size) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `a group of ${this.size} ranks has members 0 to ${this.size - 1}, not ${show(i)}`,
      );
    }
    let rank = this.#base;
    let rest = i;
    for (const { size, stride } of this.#axes) {
      rank += (rest % size) * stride;
      rest = Math.floor(rest / size);
    }
    return rank;
  }

  /** Every member, ascending. The one operation that is O(size). */
  ranks(): number[] {
    return Array.from({ length: this.size }, (_, i) => this.at(i));
  }

  /** Position of a world rank in the group, or -1 if it is not a member. */
  indexOf(rank: number): number {
    if (!Number.isInteger(rank)) return -1;
    let rest = rank - this.#base;
    let index = 0;
    // Each stride exceeds everything the faster axes can add up to, so taking the slowest axis first is exact.
    for (let a = this.#axes.length - 1; a >= 0; a--) {
      const { size, stride } = this.#axes[a]!;
      const coordinate = Math.floor(rest / stride);
      if (coordinate < 0 || coordinate >= size) return -1;
      index = index * size + coordinate;
      rest -= coordinate * stride;
    }
    return rest === 0 ? index : -1;
  }
}
