import { checkInstance } from '../arguments.js';
import { checkWhole } from '../device/checks.js';
import { FoldstepError } from '../errors.js';

/** Throws INVALID_ARGUMENT unless `values` is a Float32Array, INVALID_LENGTH unless it has `length` elements. */
export function checkValues(what: string, values: Float32Array, length: number, why: string): void {
  checkInstance(what, values, Float32Array);
  if (values.length === length) return;
  throw new FoldstepError(
    'INVALID_LENGTH',
    `${what} has ${values.length} elements and needs ${length}: ${why}`,
  );
}

/** The same for row-major [rows, width]. */
export function checkRows(what: string, values: Float32Array, rows: number, width: number): void {
  checkWhole('width', width, 0);
  checkValues(what, values, rows * width, `${rows} rows of ${width}`);
}

/** Throws INVALID_ARGUMENT or INVALID_LENGTH unless `counts` is one whole number for each of `size` members. */
export function checkCounts(what: string, counts: readonly number[], size: number): void {
  checkInstance(what, counts, Array);
  if (counts.length !== size) {
    throw new FoldstepError(
      'INVALID_LENGTH',
      `${what} needs one number for each of the group's ${size} members; it has ${counts.length}`,
    );
  }
  for (const [member, count] of counts.entries()) checkWhole(`${what}[${member}]`, count, 0);
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
