import { type JaxArray, jit, np, vjp } from './jax.ts';
import { type Constant, type Tensor, tensor } from './tensor.ts';

/** Weights and activations in, activations out. Each array is consumed once; `.ref` makes another use of it. */
export type SegmentFunction = (weights: JaxArray[], inputs: JaxArray[], constants: JaxArray[]) => JaxArray[];

export interface SegmentGradients {
  readonly weights: Float32Array[];
  readonly inputs: Float32Array[];
}

/**
 * A part of a model between two collectives: a pure function, compiled once for each combination of shapes. Its backward
 * pass computes the forward once more instead of keeping what it left: a segment holds no memory between calls.
 */
export class Segment {
  readonly #forward;
  readonly #backward;

  constructor(fn: SegmentFunction) {
    this.#forward = jit(fn);
    this.#backward = jit(
      (weights: JaxArray[], inputs: JaxArray[], constants: JaxArray[], cotangents: JaxArray[]) => {
        const [outputs, pullback] = vjp(
          (w: JaxArray[], x: JaxArray[]) =>
            fn(
              w,
              x,
              constants.map((constant) => constant.ref),
            ),
          [weights, inputs],
        );
        for (const output of outputs) output.dispose();
        const gradients = pullback(cotangents) as [JaxArray[], JaxArray[]];
        pullback.dispose();
        for (const constant of constants) constant.dispose();
        return gradients;
      },
    );
  }

  forward(weights: readonly JaxArray[], inputs: readonly Tensor[], constants: readonly Constant[]): Tensor[] {
    const outputs = this.#forward(refs(weights), inputs.map(toJax), constants.map(toJax));
    return outputs.map((output) => tensor([...output.shape], read(output)));
  }

  backward(
    weights: readonly JaxArray[],
    inputs: readonly Tensor[],
    constants: readonly Constant[],
    cotangents: readonly Tensor[],
  ): SegmentGradients {
    const [ofWeights, ofInputs] = this.#backward(
      refs(weights),
      inputs.map(toJax),
      constants.map(toJax),
      cotangents.map(toJax),
    );
    return { weights: ofWeights.map(read), inputs: ofInputs.map(read) };
  }
}

export function toJax({ shape, data }: Constant): JaxArray {
  return np.array(data, { shape: [...shape] });
}

function read(array: JaxArray): Float32Array {
  return array.dataSync() as Float32Array;
}

function refs(arrays: readonly JaxArray[]): JaxArray[] {
  return arrays.map((array) => array.ref);
}
