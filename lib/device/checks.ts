import { checkFields, checkFlag, checkInstance, checkList, checkWhole } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import type { RawMemory, RawSpan, RawStream } from '../native/types.js';
import { show } from '../show.js';
import type { DType } from './dtype.js';
import { Stream } from './stream.js';
import { View } from './view.js';

/**
 * Throws INVALID_ARGUMENT for what is no view, INVALID_DTYPE if it is of none of the types, INVALID_LENGTH if it is shorter
 * than `atLeast` elements. `name` is the argument's.
 */
export function checkView(name: string, view: View, types?: readonly DType[], atLeast = 0): void {
  if (!(view instanceof View)) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `${name} must be a View of a foldstep buffer; it is ${show(view)}`,
    );
  }
  if (types && !types.includes(view.dtype)) {
    throw new FoldstepError(
      'INVALID_DTYPE',
      `${name} must be of ${types.join(' or ')}; it is of ${view.dtype}`,
    );
  }
  if (view.length < atLeast) {
    throw new FoldstepError('INVALID_LENGTH', `${name} has ${view.length} elements and needs ${atLeast}`);
  }
}

/** The handle of a stream. Throws INVALID_ARGUMENT for what is none. */
export function streamOf(stream: Stream): RawStream {
  checkInstance('stream', stream, Stream);
  return stream.handle;
}

/** Throws INVALID_LENGTH unless `view` has exactly `length` elements. */
export function checkLength(name: string, view: View, length: number): void {
  if (view.length === length) return;
  throw new FoldstepError('INVALID_LENGTH', `${name} has ${view.length} elements and must have ${length}`);
}

/** Throws INVALID_DTYPE unless both are of one type. */
export function checkSameType(source: View, target: View): void {
  if (source.dtype === target.dtype) return;
  throw new FoldstepError(
    'INVALID_DTYPE',
    `source is of ${source.dtype} and target of ${target.dtype}; they must be of one type`,
  );
}

/** Throws INVALID_ARGUMENT if an operation would write what it has still to read. */
export function checkApart(source: View, target: View): void {
  const apart =
    source.buffer !== target.buffer ||
    source.byteOffset + source.byteLength <= target.byteOffset ||
    target.byteOffset + target.byteLength <= source.byteOffset;
  if (!apart) throw new FoldstepError('INVALID_ARGUMENT', 'source and target overlap; they may not');
}

/** Where a view lies, as raw operations take it. */
export function spanOf({ buffer, byteOffset }: View): [RawMemory, number] {
  return [buffer.handle, byteOffset];
}

/** The elements of a view, as prepared operations take them. */
export function rawSpan({ buffer, byteOffset, byteLength }: View): RawSpan {
  return { memory: buffer.handle, offset: byteOffset, bytes: byteLength };
}

/**
 * The numbers of a list, row by row, as prepared operations take them: the whole numbers in `fields`, then the flags as 0
 * and 1. Throws INVALID_ARGUMENT for a row that has other fields or values.
 */
export function numbersOf<Row extends object>(
  what: string,
  rows: readonly Row[],
  fields: readonly (keyof Row & string)[],
  flags: readonly (keyof Row & string)[] = [],
): Float64Array {
  const numbers = checkList(what, rows, (given, i) => {
    const row = checkFields(`${what}[${i}]`, given, [...fields, ...flags]);
    for (const field of fields) checkWhole(`${what}[${i}].${field}`, row[field] as number, 0);
    for (const flag of flags) checkFlag(`${what}[${i}].${flag}`, row[flag] as boolean);
    return [...fields, ...flags].map((field) => Number(row[field]));
  });
  return Float64Array.from(numbers.flat());
}
