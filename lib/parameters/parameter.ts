import { checkFields, checkInstance, reading } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { Genuine } from '../genuine.js';
import { type Grid, Mesh } from '../mesh/mesh.js';
import { show, showName } from '../show.js';
import { typedArray } from '../typed-arrays.js';
import {
  correctionOf,
  type Family,
  type FamilyOptions,
  familyRow,
  type LaneRule,
  laneRuleOf,
  type Reduction,
} from './families.js';
import { type Cut, checkPartition, checkShape, sizeOf } from './partition.js';
import { type Range, sliceBox, type TensorArray } from './slice.js';

export { FAMILY_NAMES, type Family, type FamilyOptions, type LaneRule, type Reduction } from './families.js';
export type { Cut } from './partition.js';
export type { Range, TensorArray } from './slice.js';

/** What a caller says of a parameter; everything else follows from it. */
export interface ParameterSpec {
  name: string;
  /** Sizes of the logical tensor, row-major; `[]` is a scalar, and a size may be 0. */
  shape: readonly number[];
  family: Family;
  /**
   * Which axes of the family's grid cut the tensor, and where. Two axes may cut one dimension: the first listed is the
   * outer cut. An axis that is not listed holds copies, whose gradients are averaged where the family has no other rule for
   * them. Default none.
   */
  partition?: readonly Cut[];
  /** Group whose norm is reported, and which may be clipped on its own. */
  normGroup?: string;
}

/** A logical tensor, and all that its family and partition say about it on a mesh. */
const SPEC_FIELDS = ['name', 'shape', 'family', 'partition', 'normGroup'];

export class Parameter extends Genuine {
  readonly name: string;
  readonly shape: readonly number[];
  readonly family: Family;
  readonly partition: readonly Readonly<Cut>[];
  readonly normGroup: string | undefined;
  readonly mesh: Mesh;
  readonly grid: Grid;
  readonly laneRule: LaneRule;
  /** Sizes of one rank's part, the same on every rank. */
  readonly localShape: readonly number[];
  /** Elements of one rank's part. */
  readonly localSize: number;
  /** Elements of the logical tensor. */
  readonly logicalSize: number;
  /** What the tensor lanes, and other ranks of one data rank that hold copies, do to a micro-batch's gradient. */
  readonly correction: Reduction;
  /** What the data ranks do to it: a sum over `dp` or `edp`, divided by the dense `dp` on every grid. */
  readonly dataReduction: Reduction;

  /**
   * Throws, with `parameter` set: INVALID_ARGUMENT for a name or norm group that is no text, UNKNOWN_FAMILY,
   * INVALID_SHAPE, UNKNOWN_AXIS for a cut over an axis that is not of the family's grid, and INVALID_PARTITION for a
   * cut that the family forbids or a size that does not divide.
   */
  constructor(spec: ParameterSpec, mesh: Mesh, options: FamilyOptions = {}) {
    super();
    const fields = checkFields('the fields of a parameter', spec, SPEC_FIELDS);
    const { name, family, normGroup } = fields;
    checkText('name', name, name);
    if (normGroup !== undefined) checkText('normGroup', normGroup, name);
    const row = familyRow(family, name);
    const shape = checkShape(name, fields.shape);
    this.logicalSize = sizeOf(name, shape);
    checkInstance('mesh', mesh, Mesh);
    const grid = mesh.grid(row.grid);
    const partition = checkPartition(name, family, row, grid, shape, fields.partition ?? []);

    this.name = name;
    this.shape = shape;
    this.family = family;
    this.partition = partition;
    this.normGroup = normGroup;
    this.mesh = mesh;
    this.grid = grid;
    this.laneRule = reading('the options of a parameter', () => laneRuleOf(row, options));
    this.correction = correctionOf(this.laneRule, mesh.tp, grid, this.copyAxes(true));
    this.dataReduction = { axes: [grid.dataAxis], scale: 1 / mesh.dp };
    const localShape = [...shape];
    for (const { axis, dim } of partition) localShape[dim]! /= grid.size(axis);
    this.localShape = localShape;
    this.localSize = localShape.reduce((product, size) => product * size, 1);
  }

  /**
   * Axes of the grid along which ranks hold copies of an element, whatever their size: all that do not cut it, less
   * the data axis when gradients are ZeRO-sharded, since shards hold no copies.
   */
  copyAxes(zeroSharded: boolean): readonly string[] {
    return this.grid.axes
      .map(({ name }) => name)
      .filter((axis) => !this.partition.some((cut) => cut.axis === axis))
      .filter((axis) => !(zeroSharded && axis === this.grid.dataAxis));
  }

  /**
   * Whether a rank counts the elements it holds in a norm: it sits at index 0 of every axis that holds copies. When
   * ZeRO-sharded, what it holds is its shard. Throws INVALID_ARGUMENT for a rank outside the world.
   */
  isOwner(rank: number, zeroSharded: boolean): boolean {
    const coordinates = this.grid.coordinates(rank);
    return this.copyAxes(zeroSharded).every((axis) => coordinates[axis] === 0);
  }

  /** A rank's part of the logical tensor, one range per dimension. Throws INVALID_ARGUMENT for a rank outside the world. */
  localRange(rank: number): readonly Range[] {
    const coordinates = this.grid.coordinates(rank);
    const ranges = this.shape.map((size) => ({ start: 0, end: size }));
    for (const { axis, dim } of this.partition) {
      const range = ranges[dim]!;
      const part = (range.end - range.start) / this.grid.size(axis);
      range.start += coordinates[axis]! * part;
      range.end = range.start + part;
    }
    return ranges;
  }

  /**
   * A copy of a rank's part of a row-major logical tensor: FP32, FP64, or BF16 bits; `localSize` elements in row-major
   * order of `localShape`. Throws INVALID_DTYPE for another type, INVALID_LENGTH unless `logical` has
   * `logicalSize` elements.
   */
  slice<T extends TensorArray>(rank: number, logical: T): T {
    const array = typedArray(logical, 'Float32Array', 'Uint16Array', 'Float64Array');
    if (array === undefined) {
      throw new FoldstepError(
        'INVALID_DTYPE',
        `parameter ${showName(this.name)}: a part is cut out of a Float32Array, a Float64Array, or BF16 bits in a Uint16Array, not out of ${show(logical)}`,
        { parameter: this.name },
      );
    }
    if (array.length !== this.logicalSize) {
      throw new FoldstepError(
        'INVALID_LENGTH',
        `parameter ${showName(this.name)}: a logical tensor [${this.shape.join(', ')}] has ${this.logicalSize} elements, not ${array.length}`,
        { parameter: this.name },
      );
    }
    return sliceBox(array, this.shape, this.localRange(rank)) as T;
  }
}

function checkText(field: string, value: unknown, parameter: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  const shown = typeof value === 'string' ? 'empty' : show(value);
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `a parameter's ${field} must be text and not empty; it is ${shown}`,
    { parameter: typeof parameter === 'string' ? parameter : show(parameter) },
  );
}
