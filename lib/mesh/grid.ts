import { checkFields, checkList, checkWhole, reading } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';
import { type Axis, RankGroup } from './group.js';
import type { GridName, GridSizes } from './sizes.js';

/**
 * One reading of the ranks of a pipeline stage as a box of axes, the leftmost axis with stride 1. Every pipeline
 * stage is the same box, shifted by the stage's first rank. All answers are arithmetic on the one rank asked about.
 */
export class Grid {
  readonly name: GridName;
  /** Fastest first. */
  readonly axes: readonly Axis[];
  /** The slowest axis: data parallelism, along which ZeRO shards. `dp` on the dense grid, `edp` on the others. */
  readonly dataAxis: string;
  readonly #world: number;
  readonly #stage: number;

  /** Made by `Mesh`, from sizes already found to fit. */
  constructor(sizes: GridSizes, world: number) {
    let stride = 1;
    const { name, axes, dataAxis } = reading('the sizes of a grid', () => ({ ...sizes }));
    this.name = name;
    this.axes = checkList('the axes of a grid', axes, (axis) => {
      const { name, size } = checkFields('the fields of an axis', axis, ['name', 'size']);
      checkWhole('the size of an axis', size, 1);
      const placed = { name, size, stride };
      stride *= size;
      return placed;
    });
    this.dataAxis = dataAxis;
    this.#world = world;
    this.#stage = stride;
  }

  has(axis: string): boolean {
    return this.axes.some(({ name }) => name === axis);
  }

  /** Ranks along an axis. Throws UNKNOWN_AXIS. */
  size(axis: string): number {
    return this.#axis(axis).size;
  }

  /** Where a world rank sits along an axis, 0 <= coordinate < size. Throws UNKNOWN_AXIS, or INVALID_ARGUMENT for the rank. */
  coordinate(rank: number, axis: string): number {
    const found = this.#axis(axis);
    checkRank(rank, this.#world);
    return this.#along(rank, found);
  }

  /** Where a world rank sits along every axis. Throws INVALID_ARGUMENT for a rank outside the world. */
  coordinates(rank: number): Record<string, number> {
    checkRank(rank, this.#world);
    return Object.fromEntries(this.axes.map((axis) => [axis.name, this.#along(rank, axis)]));
  }

  /**
   * The ranks that differ from `rank` in nothing but the named axes, in any order of naming; no axes is the rank alone.
   * Throws UNKNOWN_AXIS, or INVALID_ARGUMENT for a rank outside the world and for an axis named twice.
   */
  group(rank: number, axes: readonly string[]): RankGroup {
    checkRank(rank, this.#world);
    const named = checkList('the axes of a group', axes, (axis) => this.#axis(axis));
    const varying = this.axes.filter((axis) => named.includes(axis));
    if (varying.length !== named.length) {
      const names = named.map(({ name }) => name).join(', ');
      throw new FoldstepError('INVALID_ARGUMENT', `an axis is named twice in [${names}]`);
    }
    const base = varying.reduce((first, axis) => first - this.#along(rank, axis) * axis.stride, rank);
    return new RankGroup(base, varying, rank);
  }

  /** Such as `dense tp 2 x dp 4`. */
  describe(): string {
    return `${this.name} ${this.axes.map(({ name, size }) => `${name} ${size}`).join(' x ')}`;
  }

  #axis(name: string): Axis {
    const axis = this.axes.find((candidate) => candidate.name === name);
    if (axis) return axis;
    const known = this.axes.map((candidate) => candidate.name).join(', ');
    throw new FoldstepError(
      'UNKNOWN_AXIS',
      `the ${this.name} grid has no axis ${show(name)}; its axes are ${known}`,
    );
  }

  #along(rank: number, axis: Axis): number {
    return Math.floor((rank % this.#stage) / axis.stride) % axis.size;
  }
}

/** Throws INVALID_ARGUMENT unless `rank` is one of 0 to world - 1. */
export function checkRank(rank: number, world: number): void {
  if (Number.isInteger(rank) && rank >= 0 && rank < world) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `rank ${show(rank)} is not one of the ranks 0 to ${world - 1} of a world of ${world}`,
  );
}
