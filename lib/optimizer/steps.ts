import type { FoldstepError } from '../errors.js';
import type { NormResult } from '../norm/global-norm.js';
import type { Activity } from './activity.js';
import type { Intake } from './intake.js';
import type { Loads } from './loads.js';
import type { Parts } from './parts.js';
import type { Selection } from './selection.js';

/**
 * What one step did. The numbers have the same bits on every rank. Where `skipped`, the
 * coefficients are 0.
 */
export interface StepResult extends Omit<NormResult, 'nonFinite'> {
  /** The first non-finite parameter of the lowest rank that holds one after reduction. */
  readonly nonFinite: { readonly parameter: string; readonly rank: number } | null;
}

/** Reduces, and takes steps, after all ranks have agreed to. */
export class Steps {
  readonly #parts: Parts;
  readonly #activity: Activity;
  readonly #intake: Intake;
  readonly #loads: Loads;
  readonly #all: Selection;
  #taken = 0;

  /** `all` is the selection of all parameters. */
  constructor(parts: Parts, activity: Activity, intake: Intake, loads: Loads, all: Selection) {
    this.#parts = parts;
    this.#activity = activity;
    this.#intake = intake;
    this.#loads = loads;
    this.#all = all;
  }

  /** Steps taken; skipped ones are not. */
  get taken(): number {
    return this.#taken;
  }

  /** See `FoldedOptimizer.reduce`. */
  async reduce(): Promise<void> {
    this.#activity.requireUsable();
    this.#activity.requireIdle();
    if (this.#activity.reduced) return;
    await this.#activity.alone('a reduction', async () => {
      await this.#agreeOn('reduce', () => this.#intake.requireComplete());
      this.#activity.reduced = true;
      await this.#run(() => this.#parts.reducer.reduce(this.#parts.stream));
    });
  }

  /** See `FoldedOptimizer.step`. */
  async step(learningRate: number): Promise<StepResult> {
    this.#activity.requireUsable();
    this.#activity.requireIdle();
    return this.#activity.alone('a step', () => this.#step(learningRate));
  }

  async #step(learningRate: number): Promise<StepResult> {
    const { reducer, norm, updater, weights, rule, stream, weightArrays } = this.#parts;
    await this.#agreeOn(
      'step',
      () => {
        this.#intake.requireComplete();
        rule.checkLearningRate(learningRate);
      },
      learningRate,
    );
    await this.#run(() => {
      if (!this.#activity.reduced) reducer.reduce(stream);
      norm.enqueue(stream);
      updater.enqueue(learningRate, this.#taken + 1, stream);
      weights.enqueue(stream);
      weightArrays.download(this.#all.places, stream);
    });
    const { nonFinite, ...result } = norm.read();
    this.#activity.reduced = false;
    this.#intake.clear();
    this.#loads.stepFinished();
    if (!result.skipped) this.#taken += 1;
    const named = nonFinite && {
      parameter: await this.#parts.parameterName(nonFinite.rank, nonFinite.parameterIndex),
      rank: nonFinite.rank,
    };
    return { ...result, nonFinite: named };
  }

  /**
   * What `prepare` gives, if it throws on no rank and all ranks are about to do the same.
   * Collective over the world.
   */
  async #agreeOn<T>(call: 'step' | 'reduce', prepare: () => T, learningRate?: number): Promise<T> {
    let prepared: { readonly value: T } | undefined;
    let objection: FoldstepError | undefined;
    try {
      prepared = { value: prepare() };
    } catch (error) {
      objection = error as FoldstepError;
    }
    const intent = { call, objection, ...(learningRate === undefined ? {} : { learningRate }) };
    const { stepAgreement, placement } = this.#parts;
    const refusal = await this.#activity.guard(() =>
      stepAgreement.refusalOf(intent, placement.layout.parameters, this.#intake, this.#loads),
    );
    if (refusal) throw refusal;
    return prepared!.value;
  }

  #run(enqueue: () => void): Promise<void> {
    return this.#activity.guard(async () => {
      enqueue();
      await this.#parts.stream.synchronize();
    });
  }
}
