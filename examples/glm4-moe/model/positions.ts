import { type Tensor, tensor } from '../autodiff/tensor.ts';
import type { Glm4MoeConfig } from '../config.ts';

/** Added to the score of a later token: its weight becomes exactly 0. */
const LATER = -1e30;

/** What the attention segment takes for sequences of a length: cos and sin [length, rotaryDim / 2], mask [length, length]. */
export function positionsOf(length: number, { rotaryDim, ropeTheta }: Glm4MoeConfig): Tensor[] {
  const half = rotaryDim / 2;
  const angles = Float64Array.from({ length: length * half }, (_, i) => {
    const [position, pair] = [Math.floor(i / half), i % half];
    return position * ropeTheta ** ((-2 * pair) / rotaryDim);
  });
  const mask = Float32Array.from({ length: length * length }, (_, i) =>
    i % length > Math.floor(i / length) ? LATER : 0,
  );
  return [
    tensor([length, half], Float32Array.from(angles, Math.cos)),
    tensor([length, half], Float32Array.from(angles, Math.sin)),
    tensor([length, length], mask),
  ];
}
