/** Bits of an element of each dtype that the format has. Elements of less than a byte lie packed. */
const BITS = {
  BOOL: 8,
  F4: 4,
  F6_E2M3: 6,
  F6_E3M2: 6,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  F8_E4M3FNUZ: 8,
  F8_E5M2FNUZ: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  C64: 64,
  F64: 64,
  I64: 64,
  U64: 64,
} as const;

export type DTypeName = keyof typeof BITS;

export function isDType(name: string): name is DTypeName {
  return Object.hasOwn(BITS, name);
}

/** Bytes of so many elements; undefined where these are no whole number of bytes, or more than can be counted exactly. */
export function bytesOf(dtype: DTypeName, elements: number): number | undefined {
  const bits = elements * BITS[dtype];
  return Number.isSafeInteger(bits) && bits % 8 === 0 ? bits / 8 : undefined;
}
