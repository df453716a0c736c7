import type { Parameter } from 'foldstep';
import { uniform } from './train/random.ts';

/**
 * Fresh values of a logical tensor as Hugging Face makes them: norms 1, biases 0, the rest normal with standard deviation
 * `range`. `index`: the parameter's place in the model. The same for every mesh.
 */
export function initialValues(
  { name, logicalSize }: Pick<Parameter, 'name' | 'logicalSize'>,
  index: number,
  range: number,
  seed: number,
): Float32Array {
  if (name.endsWith('norm.weight')) return new Float32Array(logicalSize).fill(1);
  if (name.endsWith('.bias')) return new Float32Array(logicalSize);
  return Float32Array.from({ length: logicalSize }, (_, i) => range * normal(seed, index, i));
}

/** Box and Muller's transform of two uniform numbers. */
function normal(seed: number, index: number, i: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniform(seed, 'weights', index, 2 * i)));
  return radius * Math.cos(2 * Math.PI * uniform(seed, 'weights', index, 2 * i + 1));
}
