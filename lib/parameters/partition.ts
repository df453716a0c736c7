import { checkFields, checkList } from '../arguments.js';
import { FoldstepError, type FoldstepErrorCode } from '../errors.js';
import type { Grid } from '../mesh/mesh.js';
import { show, showName } from '../show.js';
import { type Family, type FamilyRow, familiesCutBy } from './families.js';

/** The axis `axis` of a parameter's grid cuts dimension `dim` of the logical tensor into equal parts. */
export interface Cut {
  axis: string;
  dim: number;
}

/** The sizes of a shape, each read once. Throws INVALID_SHAPE. */
export function checkShape(name: string, shape: readonly number[]): number[] {
  const what = `parameter ${showName(name)}: the shape`;
  return checkList(
    what,
    shape,
    (size, dim) => {
      if (Number.isSafeInteger(size) && size >= 0) return size;
      return refuse(
        'INVALID_SHAPE',
        name,
        `dimension ${dim} is ${show(size)}; a size is an integer of 0 or more`,
      );
    },
    { code: 'INVALID_SHAPE', parameter: name },
  );
}

/** Number of elements of a shape; `[]` is a scalar of one. Throws INVALID_SHAPE beyond Number.MAX_SAFE_INTEGER. */
export function sizeOf(name: string, shape: readonly number[]): number {
  if (shape.includes(0)) return 0;
  const elements = shape.reduce((product, size) => product * size, 1);
  if (Number.isSafeInteger(elements)) return elements;
  return refuse(
    'INVALID_SHAPE',
    name,
    `[${shape.join(', ')}] has more than ${Number.MAX_SAFE_INTEGER} elements, too many to index exactly`,
  );
}

/**
 * The cuts, each read once. Throws unless a family's rules and the shape's sizes allow every one: UNKNOWN_AXIS for an axis
 * that is not of the grid, INVALID_PARTITION for the rest.
 */
export function checkPartition(
  name: string,
  family: Family,
  row: FamilyRow,
  grid: Grid,
  shape: readonly number[],
  cuts: readonly Cut[],
): Cut[] {
  const what = `parameter ${showName(name)}: its partition`;
  const refusal = { code: 'INVALID_PARTITION', parameter: name } as const;
  const fields = `the cuts of parameter ${showName(name)}`;
  const partition = checkList(
    what,
    cuts,
    (cut) => checkFields(fields, cut, ['axis', 'dim'], { parameter: name }),
    refusal,
  );
  for (const [i, { axis, dim }] of partition.entries()) {
    checkAxis(name, family, row, grid, axis);
    if (partition.findIndex((cut) => cut.axis === axis) !== i) {
      refuse('INVALID_PARTITION', name, `axis ${axis} cuts it twice; an axis cuts one dimension`);
    }
    checkDimension(name, shape, axis, dim);
  }
  for (const axis of row.mustCut) {
    if (partition.some((cut) => cut.axis === axis)) continue;
    refuse(
      'INVALID_PARTITION',
      name,
      `family ${family} must be cut over ${axis}, also where ${axis} is 1; add { axis: '${axis}', dim } to its partition`,
    );
  }
  for (const dim of new Set(partition.map((cut) => cut.dim))) checkDivides(name, grid, shape, partition, dim);
  return partition;
}

function checkAxis(name: string, family: Family, row: FamilyRow, grid: Grid, axis: string): void {
  if (!grid.has(axis)) {
    const known = grid.axes.map((candidate) => candidate.name).join(', ');
    refuse(
      'UNKNOWN_AXIS',
      name,
      `the ${grid.name} grid of family ${family} has no axis ${show(axis)}; its axes are ${known}`,
    );
  }
  if (row.mayCut.includes(axis)) return;
  if (axis === grid.dataAxis) {
    refuse(
      'INVALID_PARTITION',
      name,
      `the data axis ${axis} cuts no parameter; sharding along it is what a ZeRO stage of 1 or more does`,
    );
  }
  const instead = familiesCutBy(axis, grid.name).map((other) => `'${other}'`);
  const hint = instead.length > 0 ? `; for a tensor cut over ${axis} use family ${instead.join(' or ')}` : '';
  refuse('INVALID_PARTITION', name, `family ${family} is not cut over ${axis}${hint}`);
}

function checkDimension(name: string, shape: readonly number[], axis: string, dim: number): void {
  if (Number.isInteger(dim) && dim >= 0 && dim < shape.length) return;
  const fitting =
    shape.length === 0
      ? 'a scalar has none to cut'
      : `the dimensions of [${shape.join(', ')}] are 0 to ${shape.length - 1}`;
  refuse('INVALID_PARTITION', name, `axis ${axis} cuts dimension ${show(dim)}; ${fitting}`);
}

function checkDivides(
  name: string,
  grid: Grid,
  shape: readonly number[],
  partition: readonly Cut[],
  dim: number,
): void {
  const axes = partition.filter((cut) => cut.dim === dim).map((cut) => cut.axis);
  const parts = axes.reduce((product, axis) => product * grid.size(axis), 1);
  const size = shape[dim]!;
  if (size % parts === 0) return;
  const cutBy = axes.map((axis) => `${axis} = ${grid.size(axis)}`).join(' * ');
  const above = Math.ceil(size / parts) * parts;
  const fitting = above > parts ? `${above - parts} and ${above}` : String(above);
  refuse(
    'INVALID_PARTITION',
    name,
    `dimension ${dim} of size ${size} is not divided by ${cutBy}; multiples of ${parts} fit, the nearest being ${fitting}`,
  );
}

function refuse(code: FoldstepErrorCode, parameter: string, message: string): never {
  throw new FoldstepError(code, `parameter ${showName(parameter)}: ${message}`, { parameter });
}
