import type { DTypeName } from './dtypes.js';

/** Fills FP32 elements from the bytes of as many elements of another dtype. */
type Convert = (bytes: Uint8Array<ArrayBuffer>, into: Float32Array) => void;

/** How the bits of a small float are made: sign, exponent, mantissa, from the highest on. */
interface SmallFloat {
  readonly exponentBits: number;
  readonly mantissaBits: number;
  readonly bias: number;
  /** IEEE 754: the highest exponent is of infinities and NaNs. Otherwise only all ones is a NaN, and there is no infinity. */
  readonly ieee: boolean;
}

const F16: SmallFloat = { exponentBits: 5, mantissaBits: 10, bias: 15, ieee: true };
const F8_E5M2: SmallFloat = { exponentBits: 5, mantissaBits: 2, bias: 15, ieee: true };
const F8_E4M3: SmallFloat = { exponentBits: 4, mantissaBits: 3, bias: 7, ieee: false };

/** The dtypes that FP32 holds exactly, and F64, which is rounded to the nearest. F32 itself needs no conversion. */
const CONVERSIONS: Partial<Record<DTypeName, Convert>> = {
  F16: byTable(F16, Uint16Array),
  F8_E5M2: byTable(F8_E5M2, Uint8Array),
  F8_E4M3: byTable(F8_E4M3, Uint8Array),
  BF16: (bytes, into) => {
    const from = new Uint16Array(bytes.buffer, bytes.byteOffset, into.length);
    const bits = new Uint32Array(into.buffer, into.byteOffset, into.length);
    for (let i = 0; i < from.length; i++) bits[i] = from[i]! << 16;
  },
  F64: (bytes, into) => into.set(new Float64Array(bytes.buffer, bytes.byteOffset, into.length)),
};

/** Undefined for a dtype that is not converted. */
export function conversionOf(dtype: DTypeName): Convert | undefined {
  return CONVERSIONS[dtype];
}

/** What `conversionOf` converts, for a message. */
export const CONVERTED = ['F32', ...Object.keys(CONVERSIONS)].join(', ');

function byTable(format: SmallFloat, ArrayType: typeof Uint8Array | typeof Uint16Array): Convert {
  let table: Float32Array | undefined;
  return (bytes, into) => {
    table ??= Float32Array.from({ length: 2 ** (8 * ArrayType.BYTES_PER_ELEMENT) }, (_, bits) =>
      decode(bits, format),
    );
    const from = new ArrayType(bytes.buffer, bytes.byteOffset, into.length);
    for (let i = 0; i < from.length; i++) into[i] = table[from[i]!]!;
  };
}

function decode(bits: number, { exponentBits, mantissaBits, bias, ieee }: SmallFloat): number {
  const highest = 2 ** exponentBits - 1;
  const ones = 2 ** mantissaBits - 1;
  const sign = bits >> (exponentBits + mantissaBits) ? -1 : 1;
  const exponent = (bits >> mantissaBits) & highest;
  const mantissa = bits & ones;
  if (exponent === highest && ieee) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === highest && mantissa === ones) return Number.NaN;
  // A subnormal number has the exponent of the smallest normal one, and no leading one.
  const significand = exponent === 0 ? mantissa : 2 ** mantissaBits + mantissa;
  return sign * significand * 2 ** (Math.max(exponent, 1) - bias - mantissaBits);
}
