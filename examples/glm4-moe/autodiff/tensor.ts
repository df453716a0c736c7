/** Values between the segments of a model, row-major. What is differentiated is FP32; constants may be whole numbers. */
export interface Tensor<Data extends Float32Array | Int32Array = Float32Array> {
  readonly shape: readonly number[];
  readonly data: Data;
}

export type Constant = Tensor<Float32Array | Int32Array>;

export function tensor<Data extends Float32Array | Int32Array>(
  shape: readonly number[],
  data: Data,
): Tensor<Data> {
  return { shape, data };
}

export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** a + b. */
export function sum(a: Float32Array, b: Float32Array): Float32Array {
  const result = new Float32Array(a.length);
  for (let i = 0; i < a.length; i++) result[i] = a[i]! + b[i]!;
  return result;
}
