import { checkFields, checkWhole } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { type Schedule, scheduleFrom } from './schedule.js';
import { checkNotAbove, WARMUP_FIELDS, type WarmupOptions, warmup } from './warmup.js';

export interface WarmupCosineOptions extends WarmupOptions {
  /** Steps from the first one of the warm-up to the end of the decay; more than `warmupNumSteps`. */
  readonly totalNumSteps: number;
  /** What the rate falls to. Default 0. */
  readonly cosineMinLr?: number;
}

const FIELDS = [...WARMUP_FIELDS, 'totalNumSteps', 'cosineMinLr'];

/**
 * A warm-up as `warmupLR` has it, `linear` by default, then half a cosine down to `cosineMinLr`, which stays. The definition is
 * that of Hugging Face's get_cosine_schedule_with_warmup, with a minimum: with `done = step - 1`, from
 * `done = warmupNumSteps` on,
 *
 *     progress = min(1, (done - warmupNumSteps) / (totalNumSteps - warmupNumSteps))
 *     rate     = cosineMinLr + (warmupMaxLr - cosineMinLr) * (1 + cos(pi * progress)) / 2
 *
 * so the step after the warm-up has the full rate, and step `totalNumSteps + 1` would be the first at the minimum. DeepSpeed's
 * WarmupCosineLR begins its decay one step earlier. Throws INVALID_ARGUMENT.
 */
export function warmupCosineLR(options: WarmupCosineOptions): Schedule {
  const given = checkFields('the options of warmupCosineLR', options, FIELDS);
  const { warmupMaxLr, warmupNumSteps, totalNumSteps, cosineMinLr = 0 } = given;
  const rise = warmup({ warmupType: 'linear', ...given });
  checkNotAbove('cosineMinLr', cosineMinLr, warmupMaxLr);
  checkWhole('totalNumSteps', totalNumSteps, 1);
  if (totalNumSteps <= warmupNumSteps) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `totalNumSteps must be more than warmupNumSteps, which is ${warmupNumSteps}; it is ${totalNumSteps}`,
    );
  }
  return scheduleFrom((done) => {
    if (done < warmupNumSteps) return rise(done);
    const progress = Math.min(1, (done - warmupNumSteps) / (totalNumSteps - warmupNumSteps));
    return cosineMinLr + ((warmupMaxLr - cosineMinLr) * (1 + Math.cos(Math.PI * progress))) / 2;
  });
}
