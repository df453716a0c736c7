import type { Activity } from './activity.js';
import type { Intake } from './intake.js';
import type { Parts } from './parts.js';
import { type Selection, selectNamed } from './selection.js';

/** Adds micro-batches to the accumulators. */
export class Accumulation {
  readonly #parts: Parts;
  readonly #activity: Activity;
  readonly #intake: Intake;
  readonly #all: Selection;

  /** `all` is the selection of all parameters. */
  constructor(parts: Parts, activity: Activity, intake: Intake, all: Selection) {
    this.#parts = parts;
    this.#activity = activity;
    this.#intake = intake;
    this.#all = all;
  }

  /** See `FoldedOptimizer.accumulate`. */
  async accumulate(names?: Iterable<string>): Promise<void> {
    const { placement, reducer, stream, gradientArrays, mirror } = this.#parts;
    this.#activity.requireUsable();
    const selection = names === undefined ? this.#all : selectNamed(placement, names);
    this.#activity.requireAccumulable(selection);
    this.#intake.requireAsked(selection);
    this.#intake.accumulated(selection);
    this.#activity.beginAccumulating(selection);
    try {
      gradientArrays.upload(selection.places, stream);
      reducer.accumulate(selection.ranges, stream);
      if (mirror) gradientArrays.download(selection.places, stream);
      await stream.synchronize();
    } catch (error) {
      this.#activity.failed(error);
      throw error;
    } finally {
      this.#activity.endAccumulating(selection);
    }
  }
}
