import type { ParameterSpec } from 'foldstep';

/** Token ids of some sequences, row-major [sequences, length]. */
export interface Batch {
  readonly ids: Int32Array;
  readonly sequences: number;
  readonly length: number;
}

/** Local gradients of some parameters, as soon as they are known: FP32, local shapes. */
export type GradientSink = (gradients: ReadonlyMap<string, Float32Array>) => Promise<void> | void;

/** What the training loop needs of a model. All ranks call the same in the same order. */
export interface TrainableModel {
  readonly parameters: readonly ParameterSpec[];
  /** Takes a local weight for the passes that follow. */
  setWeight(name: string, values: Float32Array): void;
  /**
   * Mean next-token cross-entropy of this rank's sequences; `scale` times its gradient goes to the sink, each parameter
   * once.
   */
  backward(batch: Batch, scale: number, sink: GradientSink): Promise<number>;
  /** The same loss without a gradient. */
  loss(batch: Batch): Promise<number>;
  /** FP32 [sequences, length, vocabulary]. */
  logits(batch: Batch): Promise<Float32Array>;
}
