import { sizeOf, sum, type Tensor, tensor } from './tensor.ts';

/** An activation of one pass, and the gradient of the loss with respect to it as far as it is known. */
export class Value {
  readonly tensor: Tensor;
  #gradient: Float32Array | undefined;

  constructor(value: Tensor) {
    this.tensor = value;
  }

  get shape(): readonly number[] {
    return this.tensor.shape;
  }

  get data(): Float32Array {
    return this.tensor.data;
  }

  /** Zero where nothing has come. */
  get gradient(): Tensor {
    return tensor(this.shape, this.#gradient ?? new Float32Array(sizeOf(this.shape)));
  }

  /** Adds one more use's part. The array may belong to another value too: it is not written. */
  addGradient(part: Float32Array): void {
    this.#gradient = this.#gradient ? sum(this.#gradient, part) : part;
  }
}

/** Gives the gradients of an operation's inputs, in their order, from those of its outputs. */
export type Pullback = (gradients: Tensor[]) => Float32Array[] | Promise<Float32Array[]>;

/**
 * The operations of a forward pass, to be gone through backwards. They may wait for other ranks: every rank goes through
 * the same operations in the same order, so that each collective of the backward pass meets its peers.
 */
export class Tape {
  readonly #recording: boolean;
  readonly #operations: { inputs: Value[]; outputs: Value[]; pullback: Pullback }[] = [];

  /** Without `recording`, for a pass that needs no gradient, nothing is kept. */
  constructor(recording: boolean) {
    this.#recording = recording;
  }

  /** One operation that has been done: its inputs, what came of them, and its backward pass. */
  record(inputs: Value[], results: readonly Tensor[], pullback: Pullback): Value[] {
    const outputs = results.map((result) => new Value(result));
    if (this.#recording) this.#operations.push({ inputs, outputs, pullback });
    return outputs;
  }

  /** Goes back from `loss`, a value of one element whose gradient is `scale`. */
  async backward(loss: Value, scale: number): Promise<void> {
    loss.addGradient(Float32Array.of(scale));
    for (let operation = this.#operations.pop(); operation; operation = this.#operations.pop()) {
      const { inputs, outputs, pullback } = operation;
      const gradients = await pullback(outputs.map(({ gradient }) => gradient));
      for (const [i, input] of inputs.entries()) input.addGradient(gradients[i]!);
    }
  }
}
