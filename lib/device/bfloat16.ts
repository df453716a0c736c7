import { FoldstepError } from '../errors.js';
import { show } from '../show.js';
import { typedArray } from '../typed-arrays.js';

/** BF16 bits of every value, rounded to nearest even; a NaN stays one, quieted, with its sign. Throws INVALID_DTYPE. */
export function toBFloat16(values: Float32Array): Uint16Array {
  const floats = typedArray(values, 'Float32Array');
  if (floats === undefined) {
    throw new FoldstepError(
      'INVALID_DTYPE',
      `toBFloat16 takes a Float32Array, which Float32Array.from(values) makes, not ${show(values)}`,
    );
  }
  const result = new Uint16Array(floats.length);
  const source = new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
  for (let i = 0; i < source.length; i++) {
    const value = source[i]!;
    const upper = value >>> 16;
    if ((value & 0x7fff_ffff) > 0x7f80_0000) {
      result[i] = upper | 0x40;
    } else {
      // Cannot carry out of 32 bits: the largest that is no NaN is 0xff800000.
      result[i] = (value + 0x7fff + (upper & 1)) >>> 16;
    }
  }
  return result;
}

/** The values of BF16 bits, exactly. Throws INVALID_DTYPE. */
export function fromBFloat16(values: Uint16Array): Float32Array {
  const bits = typedArray(values, 'Uint16Array');
  if (bits === undefined) {
    throw new FoldstepError(
      'INVALID_DTYPE',
      `fromBFloat16 takes BF16 bits in a Uint16Array, not ${show(values)}`,
    );
  }
  const result = new Float32Array(bits.length);
  const target = new Uint32Array(result.buffer);
  for (let i = 0; i < bits.length; i++) target[i] = bits[i]! << 16;
  return result;
}
