import { FoldstepError } from '../errors.js';
import { show } from '../show.js';

interface ArrayTypes {
  float32: Float32Array;
  float64: Float64Array;
  bfloat16: Uint16Array;
  int32: Int32Array;
  uint8: Uint8Array;
}

/** Element types. A bfloat16 is its 16 bits, held in a Uint16Array. */
export type DType = keyof ArrayTypes;

/** The typed array that shows elements of a type. */
export type ArrayOf<D extends DType> = ArrayTypes[D];

export const ARRAY_CONSTRUCTORS: {
  readonly [D in DType]: {
    new (buffer: ArrayBuffer, byteOffset: number, length: number): ArrayOf<D>;
    new (length: number): ArrayOf<D>;
    readonly name: string;
    readonly BYTES_PER_ELEMENT: number;
  };
} = {
  float32: Float32Array,
  float64: Float64Array,
  bfloat16: Uint16Array,
  int32: Int32Array,
  uint8: Uint8Array,
};

/** Bytes of one element. Throws INVALID_DTYPE for a name that is none. */
export function bytesOf(dtype: DType): number {
  if (typeof dtype !== 'string' || !Object.hasOwn(ARRAY_CONSTRUCTORS, dtype)) {
    const names = Object.keys(ARRAY_CONSTRUCTORS).join(', ');
    throw new FoldstepError('INVALID_DTYPE', `there is no type ${show(dtype)}; the types are ${names}`);
  }
  return ARRAY_CONSTRUCTORS[dtype].BYTES_PER_ELEMENT;
}
