import { checkInstance } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import type { RawMemory, RawStream } from '../native/types.js';
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

/** The number that native code knows a name by. Throws INVALID_ARGUMENT for a name that is none. */
export function codeOf<Name extends string>(
  what: string,
  codes: Readonly<Record<Name, number>>,
  name: Name,
): number {
  if (typeof name === 'string' && Object.hasOwn(codes, name)) return codes[name];
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `${what} must be one of ${Object.keys(codes).join(', ')}; it is ${show(name)}`,
  );
}

/** Where a view lies, as raw operations take it. */
export function spanOf({ buffer, byteOffset }: View): [RawMemory, number] {
  return [buffer.handle, byteOffset];
}
