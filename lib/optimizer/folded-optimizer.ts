import { checkInstance, checkIterable, checkObject, reading } from '../arguments.js';
import type { FoldPath } from '../device/fold.js';
import type { View } from '../device/view.js';
import { FoldstepError } from '../errors.js';
import { rangesOf, wholeLayout } from '../gradients/ranges.js';
import type { NormResult } from '../norm/global-norm.js';
import type { LayoutEntry } from '../parameters/layout.js';
import type { Parameter } from '../parameters/parameter.js';
import { type BucketPlacement, Placement } from '../parameters/placement.js';
import type { Range } from '../parameters/slice.js';
import { show, showName } from '../show.js';
import type { StateName } from '../update/rule.js';
import { assemble } from './assemble.js';
import { consolidate } from './consolidate.js';
import { Intake } from './intake.js';
import { Loads } from './loads.js';
import { localValues } from './local-values.js';
import type { FoldedOptimizerOptions } from './options.js';
import type { Parts } from './parts.js';
import { type ShardView, seen, shardOf } from './shards.js';

export type { ShardView } from './shards.js';

/** What one step did. The numbers have the same bits on every rank. Where `skipped`, the coefficients are 0. */
export interface StepResult extends Omit<NormResult, 'nonFinite'> {
  /** The first non-finite parameter of the lowest rank that holds one after reduction. */
  readonly nonFinite: { readonly parameter: string; readonly rank: number } | null;
}

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
  readonly #intake: Intake;
  readonly #loads: Loads;
  readonly #accumulating = new Set<string>();
  /** What must be awaited before anything else, such as a step. */
  #underWay: string | undefined;
  #reduced = false;
  #steps = 0;
  /** Steps that all ranks have finished, with those that were skipped. */
  #finished = 0;
  #failure: unknown;
  #disposed = false;

  private constructor(parts: Parts) {
    checkObject('the parts of an optimizer, which FoldedOptimizer.create makes,', parts);
    const placement = reading('the parts of an optimizer', () => parts.placement);
    checkInstance('the placement of an optimizer', placement, Placement);
    this.#parts = parts;
    this.parameters = placement.layout.parameters;
    this.#intake = new Intake(this.parameters, parts.device.rank);
    this.#loads = new Loads(this.parameters, parts.device.rank);
    this.learningRate = parts.rule.learningRate;
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
    return this.#steps;
  }

  /**
   * This rank's local gradient of a parameter: BF16 bits, or FP32 with `gradientType: 'float32'`; `localShape`, row-major;
   * the same memory every time. Write it, then `accumulate`. It is the device's memory where JavaScript sees that, else what
   * `accumulate` copies to it from then on.
   */
  gradient(name: string): Uint16Array | Float32Array {
    const place = this.#placeOf(name);
    this.#intake.asked(name);
    return this.#parts.gradientArrays.show(place);
  }

  /**
   * This rank's local weight of a parameter, BF16 bits, as the last step left it; an array as `gradient` gives. Undefined
   * while a step is under way.
   */
  weight(name: string): Uint16Array {
    const place = this.#placeOf(name);
    return this.#parts.weightArrays.show(place) as Uint16Array;
  }

  /**
   * Where a parameter's gradient lies on the device, for code that writes it there, on the optimizer's stream. Do not ask for
   * `gradient` of the same parameter: its array would be copied over it.
   */
  gradientView(name: string): View {
    const view = this.#viewOf(this.#parts.arenas.gradients, name);
    this.#intake.asked(name);
    return view;
  }

  /** Where a parameter's weight lies on the device. */
  weightView(name: string): View {
    return this.#viewOf(this.#parts.arenas.weights, name);
  }

  /**
   * Sets a parameter's master and weight from this rank's local part: FP32, or BF16 bits as `Uint16Array`. Its optimizer
   * state stays as it is. Ranks that hold copies load the same: the next `step` or `reduce` throws PARAMETERS_DIFFER
   * otherwise. Throws INVALID_LENGTH, INVALID_DTYPE, BUSY, and has changed nothing.
   */
  load(name: string, values: Float32Array | Uint16Array): void {
    const { placement, entry } = this.#place(name);
    const { bits, full } = localValues(entry, values, this.#parts.device.rank);
    this.#requireIdle();
    const { arenas, weightArrays } = this.#parts;
    weightArrays.write(this.#placeOf(name), bits);
    const { offset, view } = shardOf(arenas.masters, placement, entry, placement.ownBase);
    view.write(full.subarray(offset, offset + view.length));
    this.#loads.record(name, full, this.#finished);
  }

  /** What this rank holds of a parameter's master, optimizer state, or accumulated gradient. Throws INVALID_ARGUMENT. */
  shard(name: string, what: 'master' | 'accumulated' | StateName): ShardView {
    const { placement, entry } = this.#place(name);
    const { arenas, rule } = this.#parts;
    if (what === 'accumulated') {
      return seen(shardOf(arenas.accumulators, placement, entry, placement.accumulatorOwnBase));
    }
    const arena = what === 'master' ? arenas.masters : arenas.moments[rule.states.indexOf(what)];
    if (!arena) {
      const known = ['master', 'accumulated', ...rule.states].join(', ');
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `this optimizer has no ${showName(what)}; it has ${known}`,
        { parameter: name },
      );
    }
    return seen(shardOf(arena, placement, entry, placement.ownBase));
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
    this.#check();
    this.#requireIdle();
    const [accumulating] = this.#accumulating;
    if (accumulating !== undefined)
      throw this.#busy(`parameter ${showName(accumulating)} is still being accumulated`);
    const shard = this.shard(name, what);
    if (what === 'accumulated' && !this.#reduced) {
      throw new FoldstepError(
        'NOT_REDUCED',
        `every rank holds its own part of the gradient of ${showName(name)} until it is reduced; await reduce() first`,
        { parameter: name, rank: this.#parts.device.rank },
      );
    }
    const { device, placement, stage } = this.#parts;
    const { parameter } = placement.layout.entry(name).entry;
    this.#underWay = 'a consolidation';
    try {
      return await consolidate(device, stage, parameter, what, placement.sharded, shard);
    } finally {
      this.#underWay = undefined;
    }
  }

  /**
   * Adds one micro-batch's gradients, of all parameters or of those named, to the accumulators: corrected over the tensor
   * lanes as the family says. Resolves when the caller may overwrite them. Throws BUSY if one of them is still being
   * accumulated, ALREADY_REDUCED after `reduce`, GRADIENT_MISSING for one that can never have been written: neither
   * `gradient` nor `gradientView` was called for it.
   */
  async accumulate(names?: Iterable<string>): Promise<void> {
    this.#check();
    const { placement, reducer, stream, gradientArrays, mirror } = this.#parts;
    const layout = placement.layout;
    const listed =
      names === undefined
        ? undefined
        : checkIterable('names', names, (name) => layout.entry(name).entry.parameter.name);
    const ranges = listed ? rangesOf(layout, listed) : wholeLayout(layout);
    const concerned = [...new Set(listed ?? this.parameters.map(({ name }) => name))];
    const again = concerned.find((name) => this.#accumulating.has(name));
    if (again !== undefined) {
      throw new FoldstepError(
        'BUSY',
        `parameter ${showName(again)} is still being accumulated; await the earlier accumulate() before the next`,
        { parameter: again, rank: this.#parts.device.rank },
      );
    }
    this.#requireIdle();
    if (this.#reduced) {
      throw new FoldstepError(
        'ALREADY_REDUCED',
        'the accumulators have been reduced; call step() before the next accumulate()',
      );
    }
    this.#intake.requireAsked(concerned);
    this.#intake.accumulated(concerned);
    for (const name of concerned) this.#accumulating.add(name);
    try {
      const places = concerned.map((name) => this.#placeOf(name));
      await this.#run(() => {
        gradientArrays.upload(places, stream);
        reducer.accumulate(ranges, stream);
        if (mirror) gradientArrays.download(places, stream);
      });
    } finally {
      for (const name of concerned) this.#accumulating.delete(name);
    }
  }

  /**
   * Does the reductions of `step` now, so that the whole gradient can be looked at with `shard(name, 'accumulated')` before
   * it is clipped. Optional. Throws as `step` does, but for the learning rate.
   */
  async reduce(): Promise<void> {
    this.#check();
    this.#requireIdle();
    if (this.#reduced) return;
    this.#underWay = 'a reduction';
    try {
      await this.#agreeOn('reduce', () => this.#intake.requireComplete());
      this.#reduced = true;
      await this.#run(() => this.#parts.reducer.reduce(this.#parts.stream));
    } finally {
      this.#underWay = undefined;
    }
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
    this.#check();
    this.#requireIdle();
    this.#underWay = 'a step';
    try {
      const { reducer, norm, updater, weights, rule, stream, weightArrays } = this.#parts;
      const { learningRate } = this;
      const settings = await this.#agreeOn(
        'step',
        () => {
          this.#intake.requireComplete();
          return rule.settings(this.#steps + 1, learningRate);
        },
        learningRate,
      );
      await this.#run(() => {
        if (!this.#reduced) reducer.reduce(stream);
        norm.enqueue(stream);
        updater.enqueue(settings, norm.scalars, stream);
        weights.enqueue(stream);
        weightArrays.download(
          this.parameters.map(({ name }) => this.#placeOf(name)),
          stream,
        );
      });
      const { nonFinite, ...result } = norm.read();
      this.#reduced = false;
      this.#intake.clear();
      this.#finished += 1;
      if (!result.skipped) this.#steps += 1;
      const named = nonFinite && {
        parameter: await this.#parts.parameterName(nonFinite.rank, nonFinite.parameterIndex),
        rank: nonFinite.rank,
      };
      return { ...result, nonFinite: named };
    } finally {
      this.#underWay = undefined;
    }
  }

  /** Frees the memory; views that were given out become empty. Idempotent. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#parts.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** What `prepare` gives, if it throws on no rank and all ranks are about to do the same. Collective over the world. */
  async #agreeOn<T>(call: 'step' | 'reduce', prepare: () => T, learningRate?: number): Promise<T> {
    let prepared: { readonly value: T } | undefined;
    let objection: FoldstepError | undefined;
    try {
      prepared = { value: prepare() };
    } catch (error) {
      objection = error as FoldstepError;
    }
    const intent = { call, objection, ...(learningRate === undefined ? {} : { learningRate }) };
    const refusal = await this.#guard(() =>
      this.#parts.stepAgreement.refusalOf(intent, this.parameters, this.#intake, this.#loads),
    );
    if (refusal) throw refusal;
    return prepared!.value;
  }

  #run(enqueue: () => void): Promise<void> {
    return this.#guard(async () => {
      enqueue();
      await this.#parts.stream.synchronize();
    });
  }

  async #guard<T>(operation: () => Promise<T>): Promise<T> {
    try {
      return await operation();
    } catch (error) {
      // Ranks may have got to different places: nothing that follows could be trusted.
      this.#failure ??= error;
      throw error;
    }
  }

  #check(): void {
    if (this.#disposed) {
      throw new FoldstepError('DISPOSED', 'this optimizer is disposed; create another one', {
        rank: this.#parts.device.rank,
      });
    }
    if (this.#failure !== undefined) {
      throw new FoldstepError(
        'ABORTED',
        `an earlier operation of this optimizer failed, and its state cannot be trusted: ${show(this.#failure)}`,
        { rank: this.#parts.device.rank, cause: this.#failure },
      );
    }
  }

  #requireIdle(): void {
    if (this.#underWay !== undefined) throw this.#busy(`${this.#underWay} is under way`);
  }

  #busy(why: string): FoldstepError {
    return new FoldstepError('BUSY', `${why}; await it first`, { rank: this.#parts.device.rank });
  }

  #place(name: string): { placement: BucketPlacement; entry: LayoutEntry } {
    if (this.#disposed) this.#check();
    const { bucket, entry } = this.#parts.placement.layout.entry(name);
    return { placement: this.#parts.placement.of(bucket), entry };
  }

  #placeOf(name: string): Range {
    if (this.#disposed) this.#check();
    return this.#parts.placement.placeOf(name);
  }

  #viewOf(arena: View, name: string): View {
    const { start, end } = this.#placeOf(name);
    return arena.subview(start, end);
  }
}
