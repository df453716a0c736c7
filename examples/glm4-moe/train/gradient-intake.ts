import { type FoldedOptimizer, FoldstepError, toBFloat16 } from 'foldstep';
import type { GradientSink } from './model.ts';

/** Takes a model's local gradients to the optimizer, each parameter exactly once a micro-batch. */
export class GradientIntake {
  readonly #optimizer: FoldedOptimizer;
  readonly #overlap: boolean;
  readonly #written = new Set<string>();
  #accumulating: Promise<void>[] = [];

  /** `overlap`: gradients are accumulated while the model computes those that follow, not all of them at the end. */
  constructor(optimizer: FoldedOptimizer, overlap: boolean) {
    this.#optimizer = optimizer;
    this.#overlap = overlap;
  }

  /** Forgets what an earlier micro-batch has written. */
  begin(): void {
    this.#written.clear();
  }

  /**
   * For a model's backward pass. Throws, before anything is written, UNKNOWN_PARAMETER, INVALID_LENGTH, and INVALID_ARGUMENT
   * for a parameter that was written before.
   */
  readonly sink: GradientSink = (gradients) => {
    const targets = [...gradients].map(([name, values]) => this.#targetOf(name, values));
    for (const { name, target, values } of targets) {
      target.set(target instanceof Float32Array ? values : toBFloat16(values));
      this.#written.add(name);
    }
    if (this.#overlap && targets.length > 0) this.#accumulate([...gradients.keys()]);
  };

  /** When it resolves, the gradients may be written again. Throws GRADIENT_MISSING, naming the first that was not written. */
  async finish(): Promise<void> {
    const [missing, ...others] = this.#optimizer.parameters.filter(({ name }) => !this.#written.has(name));
    if (missing) {
      const more = others.length === 0 ? '' : `, nor of ${others.length} more`;
      throw new FoldstepError(
        'GRADIENT_MISSING',
        `the backward pass gave no gradient of ${missing.name}${more}; a parameter that took no part has a gradient of zeros`,
        { parameter: missing.name },
      );
    }
    if (!this.#overlap) await this.#optimizer.accumulate();
    await Promise.all(this.#accumulating);
    this.#accumulating = [];
  }

  #targetOf(name: string, values: Float32Array) {
    if (this.#written.has(name)) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `the backward pass gave the gradient of ${name} twice in one micro-batch; the sink takes each parameter once`,
        { parameter: name },
      );
    }
    const target = this.#optimizer.gradient(name);
    if (target.length !== values.length) {
      throw new FoldstepError(
        'INVALID_LENGTH',
        `the backward pass gave ${values.length} elements as the gradient of ${name}, which has ${target.length} on this rank`,
        { parameter: name },
      );
    }
    return { name, target, values };
  }

  #accumulate(names: readonly string[]): void {
    const accumulated = this.#optimizer.accumulate(names);
    // `finish` is what reports a failure, which may come long before it.
    accumulated.catch(() => {});
    this.#accumulating.push(accumulated);
  }
}
