import { checkFields, checkWhole } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';
import { checkAmount } from '../update/rule.js';
import { type Schedule, scheduleFrom } from './schedule.js';

export type WarmupType = 'log' | 'linear';

export interface WarmupOptions {
  /** Of the first step. Default 0. */
  readonly warmupMinLr?: number;
  /** From the end of the warm-up on. */
  readonly warmupMaxLr: number;
  /** Steps before the first one at the full rate; 0 for none. */
  readonly warmupNumSteps: number;
  /** How it rises. Default: `log` in `warmupLR`, `linear` in `warmupCosineLR`. */
  readonly warmupType?: WarmupType;
}

export const WARMUP_FIELDS = ['warmupMinLr', 'warmupMaxLr', 'warmupNumSteps', 'warmupType'];

/**
 * A rise from `warmupMinLr` to `warmupMaxLr`, which then stays: DeepSpeed's WarmupLR, whose `last_batch_iteration` is
 * `done = step - 1` here. While `done < warmupNumSteps`, the rate is `warmupMinLr + (warmupMaxLr - warmupMinLr) * gamma` with
 *
 *     log (the default)   gamma = ln(done + 1) / ln(warmupNumSteps), at its height one step early
 *     linear              gamma = done / warmupNumSteps
 *
 * Throws INVALID_ARGUMENT.
 */
export function warmupLR(options: WarmupOptions): Schedule {
  const given = checkFields('the options of warmupLR', options, WARMUP_FIELDS);
  const { warmupMaxLr, warmupNumSteps } = given;
  const rise = warmup({ warmupType: 'log', ...given });
  return scheduleFrom((done) => (done < warmupNumSteps ? rise(done) : warmupMaxLr));
}

/** The rate while `done < warmupNumSteps`. Throws INVALID_ARGUMENT for a setting out of range. */
export function warmup(options: WarmupOptions): (done: number) => number {
  const { warmupMinLr = 0, warmupMaxLr, warmupNumSteps, warmupType } = options;
  checkAmount('warmupMaxLr', warmupMaxLr);
  checkNotAbove('warmupMinLr', warmupMinLr, warmupMaxLr);
  checkWhole('warmupNumSteps', warmupNumSteps, 0);
  if (warmupType !== 'log' && warmupType !== 'linear') {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `warmupType must be 'log' or 'linear'; it is ${show(warmupType)}`,
    );
  }
  const gamma =
    warmupType === 'linear'
      ? (done: number) => done / warmupNumSteps
      : // One step of warm-up is at the minimum, as the first of more is.
        (done: number) => Math.log(done + 1) / Math.log(Math.max(2, warmupNumSteps));
  return (done) => warmupMinLr + (warmupMaxLr - warmupMinLr) * gamma(done);
}

/** Throws INVALID_ARGUMENT unless `value` is a rate up to `warmupMaxLr`. */
export function checkNotAbove(name: string, value: number, warmupMaxLr: number): void {
  checkAmount(name, value);
  if (value <= warmupMaxLr) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `${name} must be at most warmupMaxLr, which is ${warmupMaxLr}; it is ${value}`,
  );
}
