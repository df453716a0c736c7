import type { UpdateSettings } from '../device/plans.js';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';

/** Names of FP32 state that a rule keeps beside the master, as torch names them. */
export type StateName = 'momentum_buffer' | 'exp_avg' | 'exp_avg_sq';

/** An optimizer's rule and its settings. See `sgd`, `adam` and `adamw`. */
export interface UpdateRule {
  readonly learningRate: number;
  /** In the order of the kernels' moments. */
  readonly states: readonly StateName[];
  settings(step: number, learningRate: number): UpdateSettings;
  /** Everything that must be the same on every rank, as text. */
  readonly description: string;
}

/** Throws INVALID_ARGUMENT, naming the setting, unless `low <= value < high`. */
export function checkSetting(name: string, value: number, low: number, high: number): void {
  if (typeof value === 'number' && value >= low && value < high) return;
  const bound =
    high === Number.POSITIVE_INFINITY ? `a finite number from ${low}` : `from ${low} to below ${high}`;
  throw new FoldstepError('INVALID_ARGUMENT', `${name} must be ${bound}; it is ${show(value)}`);
}
