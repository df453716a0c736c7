import { checkInstance, checkObject, reading } from '../arguments.js';
import type { FoldPath } from '../device/fold.js';
import type { View } from '../device/view.js';
import type { Parameter } from '../parameters/parameter.js';
import { Placement } from '../parameters/placement.js';
import type { StateName } from '../update/rule.js';
import { Accumulation } from './accumulation.js';
import { Activity } from './activity.js';
import { assemble } from './assemble.js';
import { Intake } from './intake.js';
import { Loads } from './loads.js';
import type { FoldedOptimizerOptions } from './options.js';
import type { Parts } from './parts.js';
import { selectAll } from './selection.js';
import type { ShardView } from './shards.js';
import { type StepResult, Steps } from './steps.js';
import { Tensors } from './tensors.js';

export type { ShardView } from './shards.js';
export type { StepResult } from './steps.js';

/**
 * The optimizer of a folded mixture-of-experts model: BF16 gradients in, BF16 weights out. A step is any number of
 * micro-batches (`gradient` written, `accumulate` awaited) and then `step`. All ranks call the same methods in the same
 * order.
 */
export class FoldedOptimizer {
  readonly parameters: readonly Parameter[];
  /** Of the next step; for schedules. `step` throws INVALID_ARGUMENT if it is none, PARAMETERS_DIFFER if ranks differ. */
  learningRate: number;
  readonly #parts: Parts;
  readonly #activity: Activity;
  readonly #tensors: Tensors;
  readonly #accumulation: Accumulation;
  readonly #steps: Steps;

  private constructor(parts: Parts) {
    checkObject('the parts of an optimizer, which FoldedOptimizer.create makes,', parts);
    const placement = reading('the parts of an optimizer', () => parts.placement);
    checkInstance('the placement of an optimizer', placement, Placement);
    this.#parts = parts;
    this.parameters = placement.layout.parameters;
    this.learningRate = parts.rule.learningRate;
    const { rank } = parts.device;
    const activity = new Activity(rank);
    const intake = new Intake(this.parameters, rank);
    const loads = new Loads(this.parameters, rank);
    const all = selectAll(placement);
    this.#activity = activity;
    this.#tensors = new Tensors(parts, activity, intake, loads);
    this.#accumulation = new Accumulation(parts, activity, intake, all);
    this.#steps = new Steps(parts, activity, intake, loads, all);
  }

  /**
   * Collective over the world. Throws INVALID_ARGUMENT, WORLD_MISMATCH, PARAMETERS_DIFFER, PATH_UNAVAILABLE,
   * SHARED_MEMORY_TOO_SMALL, and what `Parameter` and `FlatLayout` throw.
   */
  static async create(options: FoldedOptimizerOptions): Promise<FoldedOptimizer> {
    return new FoldedOptimizer(await assemble(options));
  }

  /** The path that a micro-batch's gradients take over the tensor lanes. */
  get path(): FoldPath {
    return this.#parts.reducer.path;
  }

  /** Steps taken; skipped ones are not. */
  get stepCount(): number {
    return this.#steps.taken;
  }

  /**
   * This rank's local gradient of a parameter: BF16 bits, or FP32 with `gradientType: 'float32'`; `localShape`, row-major;
   * the same memory every time. Write it, then `accumulate`. It is the device's memory where JavaScript sees that, else what
   * `accumulate` copies to it from then on.
   */
  gradient(name: string): Uint16Array | Float32Array {
    return this.#tensors.gradient(name);
  }

  /**
   * This rank's local weight of a parameter, BF16 bits, as the last step left it; an array as `gradient` gives. Undefined
   * while a step is under way.
   */
  weight(name: string): Uint16Array {
    return this.#tensors.weight(name);
  }

  /**
   * Where a parameter's gradient lies on the device, for code that writes it there, on the optimizer's stream. Do not ask for
   * `gradient` of the same parameter: its array would be copied over it.
   */
  gradientView(name: string): View {
    return this.#tensors.gradientView(name);
  }

  /** Where a parameter's weight lies on the device. */
  weightView(name: string): View {
    return this.#tensors.weightView(name);
  }

  /**
   * Sets a parameter's master and weight from this rank's local part: FP32, or BF16 bits as `Uint16Array`. Its optimizer
   * state stays as it is. Ranks that hold copies load the same: the next `step` or `reduce` throws PARAMETERS_DIFFER
   * otherwise. Throws INVALID_LENGTH, INVALID_DTYPE, BUSY, and has changed nothing.
   */
  load(name: string, values: Float32Array | Uint16Array): void {
    this.#tensors.load(name, values);
  }

  /** What this rank holds of a parameter's master, optimizer state, or accumulated gradient. Throws INVALID_ARGUMENT. */
  shard(name: string, what: 'master' | 'accumulated' | StateName): ShardView {
    return this.#tensors.shard(name, what);
  }

  /**
   * A parameter's whole logical tensor on every rank of the pipeline stage, row-major FP32, bit for bit: its master, its
   * optimizer state or, after `reduce`, its accumulated gradient. Collective over the stage, whose ranks ask for the same.
   * Takes the memory of the tensor twice while it runs. Throws INVALID_ARGUMENT, NOT_REDUCED for a gradient that is not, BUSY,
   * PARAMETERS_DIFFER.
   */
  async consolidate(
    name: string,
    what: 'master' | 'accumulated' | StateName = 'master',
  ): Promise<Float32Array> {
    return this.#tensors.consolidate(name, what);
  }

  /**
   * Adds one micro-batch's gradients, of all parameters or of those named, to the accumulators: corrected over the tensor
   * lanes as the family says. Resolves when the caller may overwrite them. Throws BUSY if one of them is still being
   * accumulated, ALREADY_REDUCED after `reduce`, GRADIENT_MISSING for one that can never have been written: neither
   * `gradient` nor `gradientView` was called for it.
   */
  async accumulate(names?: Iterable<string>): Promise<void> {
    await this.#accumulation.accumulate(names);
  }

  /**
   * Does the reductions of `step` now, so that the whole gradient can be looked at with `shard(name, 'accumulated')` before
   * it is clipped. Optional. Throws as `step` does, but for the learning rate.
   */
  async reduce(): Promise<void> {
    await this.#steps.reduce();
  }

  /**
   * Reduces, takes the norm, clips, updates, gathers the weights and clears the accumulators. The ranks first agree on what
   * they are about to do; where they do not, every rank throws, nothing has been done, and they may try again:
   * GRADIENT_MISSING if a parameter was not accumulated since the last step, or on one rank more often than on another;
   * PARAMETERS_DIFFER for learning rates that differ, and for copies into which ranks loaded different values;
   * OPERATION_MISMATCH where one calls `reduce`; INVALID_ARGUMENT for a learning rate that is none. Masters that a step of
   * finite numbers takes beyond FP32's range become infinite, and nothing reports it.
   */
  async step(): Promise<StepResult> {
    return this.#steps.step(this.learningRate);
  }

  /** Frees the memory; views that were given out become empty. Idempotent. */
  dispose(): void {
    if (this.#activity.dispose()) this.#parts.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
