import { fromBFloat16, toBFloat16 } from '../device/bfloat16.js';
import { FoldstepError } from '../errors.js';
import type { LayoutEntry } from '../parameters/layout.js';
import { show, showName } from '../show.js';
import { typedArray, unshared } from '../typed-arrays.js';

/** A rank's part of a parameter in both precisions that it is kept in. */
export interface LocalValues {
  /** BF16. */
  readonly bits: Uint16Array;
  readonly full: Float32Array;
}

/** FP32 values, or BF16 bits, that a caller gives for a rank's part. Throws INVALID_DTYPE, INVALID_LENGTH. */
export function localValues({ parameter, size }: LayoutEntry, values: unknown, rank: number): LocalValues {
  const { name, localShape } = parameter;
  const given = typedArray(values, 'Float32Array', 'Uint16Array');
  if (given === undefined) {
    throw new FoldstepError(
      'INVALID_DTYPE',
      `parameter ${showName(name)} is loaded from a Float32Array, or from BF16 bits in a Uint16Array, not ${show(values)}`,
      { parameter: name, rank },
    );
  }
  if (given.length !== size) {
    throw new FoldstepError(
      'INVALID_LENGTH',
      `parameter ${showName(name)} has ${size} elements on this rank ([${localShape.join(', ')}]), not ${given.length}`,
      { parameter: name, rank },
    );
  }
  const own = unshared(given);
  return own instanceof Uint16Array
    ? { bits: own, full: fromBFloat16(own) }
    : { bits: toBFloat16(own), full: own };
}
