import type { Segment } from '../autodiff/segment.ts';
import { Tape, type Value } from '../autodiff/tape.ts';
import { type Constant, sum, type Tensor, tensor } from '../autodiff/tensor.ts';
import type { GradientSink } from '../train/model.ts';
import type { Weights } from './weights.ts';

/** One pass over a batch: the tape that it leaves, and where gradients of weights go on the way back. */
export class Pass {
  readonly tape: Tape;
  readonly weights: Weights;
  readonly #sink: GradientSink | undefined;

  /** Without a sink, nothing is kept for a way back. */
  constructor(weights: Weights, sink?: GradientSink) {
    this.weights = weights;
    this.tape = new Tape(sink !== undefined);
    this.#sink = sink;
  }

  /** One segment, with weights by name. */
  apply(
    segment: Segment,
    names: readonly string[],
    inputs: Value[],
    constants: readonly Constant[] = [],
  ): Value[] {
    const tensors = inputs.map(({ tensor }) => tensor);
    const weights = () => names.map((name) => this.weights.get(name));
    return this.tape.record(inputs, segment.forward(weights(), tensors, constants), async (gradients) => {
      const found = segment.backward(weights(), tensors, constants, gradients);
      await this.give(names, found.weights);
      return found.inputs;
    });
  }

  /** Hands gradients of weights on. */
  async give(names: readonly string[], gradients: readonly Float32Array[]): Promise<void> {
    if (names.length > 0) await this.#sink!(new Map(names.map((name, i) => [name, gradients[i]!])));
  }

  add(a: Value, b: Value): Value {
    const result = tensor(a.shape, sum(a.data, b.data));
    return this.one([a, b], result, ([gradient]) => [gradient!.data, gradient!.data]);
  }

  reshape(value: Value, shape: readonly number[]): Value {
    return this.one([value], tensor(shape, value.data), ([gradient]) => [gradient!.data]);
  }

  /** Rows of a weight [rows, width] by index. */
  embed(name: string, ids: Int32Array, rows: number, width: number): Value {
    const weight = this.weights.read(name);
    const data = new Float32Array(ids.length * width);
    for (const [i, id] of ids.entries()) data.set(weight.subarray(id * width, (id + 1) * width), i * width);
    return this.one([], tensor([ids.length, width], data), async ([gradient]) => {
      const ofWeight = new Float32Array(rows * width);
      for (const [i, id] of ids.entries()) {
        for (let j = 0; j < width; j++) ofWeight[id * width + j]! += gradient!.data[i * width + j]!;
      }
      await this.give([name], [ofWeight]);
      return [];
    });
  }

  /** Records an operation of one result. */
  one(inputs: Value[], result: Tensor, pullback: Parameters<Tape['record']>[2]): Value {
    return this.tape.record(inputs, [result], pullback)[0]!;
  }
}
