import { types } from 'node:util';

interface TypedArrays {
  Int8Array: Int8Array;
  Uint8Array: Uint8Array;
  Uint8ClampedArray: Uint8ClampedArray;
  Int16Array: Int16Array;
  Uint16Array: Uint16Array;
  Int32Array: Int32Array;
  Uint32Array: Uint32Array;
  Float32Array: Float32Array;
  Float64Array: Float64Array;
  BigInt64Array: BigInt64Array;
  BigUint64Array: BigUint64Array;
}

export type TypedArrayKind = keyof TypedArrays;

// What a typed array is and where it lies is told by the getters that all kinds inherit: no subclass or field of an array's
// own can lie to them, they know the arrays of every realm, and they throw for nothing that is one.
const SHARED_PROTOTYPE = Object.getPrototypeOf(Uint8Array.prototype) as object;
const kindOf = getter<string | undefined>(Symbol.toStringTag);
const bufferOf = getter<ArrayBufferLike>('buffer');
const offsetOf = getter<number>('byteOffset');
const lengthOf = getter<number>('length');

/**
 * `value` as an array of this realm over the same memory, if it is a typed array of one of `kinds`, of whatever realm or
 * subclass; else undefined. An array whose memory was transferred has no elements.
 */
export function typedArray<Kind extends TypedArrayKind>(
  value: unknown,
  ...kinds: readonly Kind[]
): TypedArrays[Kind] | undefined {
  const kind = kindOf.call(value) as Kind | undefined;
  if (kind === undefined || !kinds.includes(kind)) return undefined;
  const length = lengthOf.call(value);
  const type = globalThis[kind] as unknown as new (...place: unknown[]) => TypedArrays[Kind];
  return length === 0 ? new type(0) : new type(bufferOf.call(value), offsetOf.call(value), length);
}

/** `array`, or a copy of it where its memory is shared: other threads may write that meanwhile, and native code takes none. */
export function unshared<Elements extends TypedArrays[TypedArrayKind]>(array: Elements): Elements {
  return types.isSharedArrayBuffer(array.buffer) ? (array.slice() as Elements) : array;
}

function getter<Result>(name: PropertyKey): { call(value: unknown): Result } {
  return Object.getOwnPropertyDescriptor(SHARED_PROTOTYPE, name)!.get!;
}
