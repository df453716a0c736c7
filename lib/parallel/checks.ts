import { checkList, checkWhole } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';
import { typedArray } from '../typed-arrays.js';

/** The elements of a Float32Array of any realm, in their place. Throws INVALID_ARGUMENT for anything else. */
export function checkFloats(what: string, values: Float32Array): Float32Array {
  const floats = typedArray(values, 'Float32Array');
  if (floats) return floats;
  throw new FoldstepError('INVALID_ARGUMENT', `${what} must be a Float32Array; it is ${show(values)}`);
}

/** The same. Throws INVALID_LENGTH too, unless there are `length` of them. */
export function checkValues(what: string, values: Float32Array, length: number, why: string): Float32Array {
  const floats = checkFloats(what, values);
  if (floats.length === length) return floats;
  throw new FoldstepError(
    'INVALID_LENGTH',
    `${what} has ${floats.length} elements and needs ${length}: ${why}`,
  );
}

/** The same for row-major [rows, width]. */
export function checkRows(what: string, values: Float32Array, rows: number, width: number): Float32Array {
  checkWhole('width', width, 0);
  return checkValues(what, values, rows * width, `${rows} rows of ${width}`);
}

/** One whole number for each of `size` members, each read once. Throws INVALID_ARGUMENT or INVALID_LENGTH. */
export function checkCounts(what: string, counts: readonly number[], size: number): number[] {
  const checked = checkList(what, counts, (count, member) => {
    checkWhole(`${what}[${member}]`, count, 0);
    return count;
  });
  if (checked.length === size) return checked;
  throw new FoldstepError(
    'INVALID_LENGTH',
    `${what} needs one number for each of the group's ${size} members; it has ${checked.length}`,
  );
}

/** Zeros. Throws OUT_OF_MEMORY where there is no room for so many. */
export function newFloats(length: number): Float32Array {
  try {
    return new Float32Array(length);
  } catch (cause) {
    const text = `this process cannot get memory for ${length} floats; make the rows narrower or fewer`;
    throw new FoldstepError('OUT_OF_MEMORY', text, { cause });
  }
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
