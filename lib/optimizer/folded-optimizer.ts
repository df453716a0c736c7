import { checkInstance, checkObject, reading } from '../arguments.js';
import type { FoldPath } from '../device/operations/team.js';
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
 * The optimizer of a folded mixture-of-experts model. It takes BF16 gradients and gives BF16
 * weights. A step is any number of micro-batches and then `step`. For each micro-batch, write every
 * `gradient` and await `accumulate`. All ranks call the same methods in the same order.
 */
export class FoldedOptimizer {
  readonly parameters: readonly Parameter[];
  /**
   * Learning rate of the next step. Set it from a schedule. `step` throws INVALID_ARGUMENT for what
   * is no learning rate, and PARAMETERS_DIFFER if ranks differ.
   */
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
   * Makes an optimizer. Collective over the world. Throws INVALID_ARGUMENT, WORLD_MISMATCH,
   * PARAMETERS_DIFFER, PATH_UNAVAILABLE, SHARED_MEMORY_TOO_SMALL, and what `Parameter` and
   * `FlatLayout` throw.
   */
  static async create(options: FoldedOptimizerOptions): Promise<FoldedOptimizer> {
    return new FoldedOptimizer(await assemble(options));
  }

  /** The path that the gradients of a micro-batch take over the tensor ranks. */
  get path(): FoldPath {
    return this.#parts.reducer.path;
  }

  /** Number of steps taken. Skipped steps do not count. */
  get stepCount(): number {
    return this.#steps.taken;
  }

  /**
   * This rank's local gradient of a parameter, in the parameter's `localShape`, row-major. The
   * elements are BF16 bits, or FP32 with `gradientType: 'float32'`. Each call gives the same array.
   * Write it, then `accumulate`.
   *
   * Where JavaScript sees the device's memory, the array is that memory. Elsewhere `accumulate`
   * copies the array to the device. Throws UNKNOWN_PARAMETER, DISPOSED, and INVALID_LENGTH for more
   * bytes than Node.js shows in one array: take `gradientView` then.
   */
  gradient(name: string): Uint16Array | Float32Array {
    return this.#tensors.gradient(name);
  }

  /**
   * This rank's local weight of a parameter as the last step left it: BF16 bits in the parameter's
   * `localShape`, row-major. Each call gives the same array. Its elements are undefined while a
   * step is under way. Throws as `gradient` does.
   */
  weight(name: string): Uint16Array {
    return this.#tensors.weight(name);
  }

  /**
   * Where a parameter's gradient lies on the device. Code that writes it there does so on the
   * optimizer's stream. Do not ask for `gradient` of the same parameter: `accumulate` would copy
   * that array over it. Throws UNKNOWN_PARAMETER, DISPOSED.
   */
  gradientView(name: string): View {
    return this.#tensors.gradientView(name);
  }

  /** Where a parameter's weight lies on the device. Throws UNKNOWN_PARAMETER, DISPOSED. */
  weightView(name: string): View {
    return this.#tensors.weightView(name);
  }

  /**
   * Sets a parameter's master and weight from this rank's local part: FP32, or BF16 bits as
   * `Uint16Array`, `localSize` elements. The state of the update rule stays as it is. Ranks that
   * hold copies load the same, or the next `step` or `reduce` throws PARAMETERS_DIFFER. Throws
   * INVALID_LENGTH, INVALID_DTYPE, BUSY, UNKNOWN_PARAMETER, DISPOSED, and has then changed nothing.
   */
  load(name: string, values: Float32Array | Uint16Array): void {
    this.#tensors.load(name, values);
  }

  /**
   * What this rank holds of a parameter's master, of its optimizer state, or of its accumulated
   * gradient, in FP32. Throws INVALID_ARGUMENT, UNKNOWN_PARAMETER, DISPOSED.
   */
  shard(name: string, what: 'master' | 'accumulated' | StateName): ShardView {
    return this.#tensors.shard(name, what);
  }

  /**
   * A parameter's whole logical tensor, row-major FP32, bit for bit, on every rank of the pipeline
   * stage: its master, its optimizer state or, after `reduce`, its accumulated gradient. Collective
   * over the stage, whose ranks ask for the same. While it runs, it takes the memory of the tensor
   * twice.
   *
   * Throws INVALID_ARGUMENT, UNKNOWN_PARAMETER, BUSY, PARAMETERS_DIFFER, and NOT_REDUCED for a
   * gradient that is not reduced.
   */
  async consolidate(
    name: string,
    what: 'master' | 'accumulated' | StateName = 'master',
  ): Promise<Float32Array> {
    return this.#tensors.consolidate(name, what);
  }

  /**
   * Adds the gradients of one micro-batch to the accumulators, of all parameters or of those named.
   * It corrects them over the tensor ranks as the family says. It resolves when the caller may
   * overwrite the gradients.
   *
   * Throws BUSY if one of them is still being accumulated, ALREADY_REDUCED after `reduce`,
   * UNKNOWN_PARAMETER, and GRADIENT_MISSING for a gradient that nobody can have written, because
   * neither `gradient` nor `gradientView` was called.
   */
  async accumulate(names?: Iterable<string>): Promise<void> {
    await this.#accumulation.accumulate(names);
  }

  /**
   * Does the reductions of `step` now. Afterwards `shard(name, 'accumulated')` shows the whole
   * gradient before it is clipped. You need not call it. Throws as `step` does, but for the
   * learning rate.
   */
  async reduce(): Promise<void> {
    await this.#steps.reduce();
  }

  /**
   * Reduces the gradient, takes its norm, clips it, updates the masters, gathers the weights and
   * clears the accumulators. The ranks first agree on what they are about to do. If they do not
   * agree, every rank throws, nothing has been done, and they may try again: GRADIENT_MISSING if a
   * parameter was not accumulated since the last step, or on one rank more often than on another;
   * PARAMETERS_DIFFER if learning rates differ, or if ranks loaded different values into copies;
   * OPERATION_MISMATCH if a rank calls `reduce`; INVALID_ARGUMENT for what is no learning rate.
   *
   * A step of finite numbers may take a master beyond the range of FP32. The master is then
   * infinite, and nothing reports it.
   */
  async step(): Promise<StepResult> {
    return this.#steps.step(this.learningRate);
  }

  /** Frees the memory. Views that were given out become empty. A second call does nothing. */
  dispose(): void {
    if (this.#activity.dispose()) this.#parts.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
