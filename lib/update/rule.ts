import { checkList, checkObject, reading } from '../arguments.js';
import type { UpdateSettings } from '../device/operations/update.js';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';

/** Names of FP32 state that a rule keeps beside the master, as torch names them. */
export type StateName = 'momentum_buffer' | 'exp_avg' | 'exp_avg_sq';

/** An optimizer's rule and its settings. See `sgd`, `adam` and `adamw`. */
export interface UpdateRule {
  readonly learningRate: number;
  /** In the order of the kernels' moments. */
  readonly states: readonly StateName[];
  readonly settings: UpdateSettings;
  /** Throws INVALID_ARGUMENT for a learning rate that the rule cannot use. */
  checkLearningRate(learningRate: number): void;
  /** Everything that must be the same on every rank, as text. */
  readonly description: string;
}

const STATES: readonly StateName[] = ['momentum_buffer', 'exp_avg', 'exp_avg_sq'];

/** Throws INVALID_ARGUMENT unless `rule` is what `sgd`, `adam` or `adamw` gives, or a copy of it. */
export function checkRule(rule: UpdateRule): void {
  checkObject('update, which sgd, adam or adamw gives,', rule);
  const { learningRate, states, settings, checkLearningRate, description } = reading('update', () => ({
    ...rule,
  }));
  checkAmount('update.learningRate', learningRate);
  checkList('update.states', states, (state) => {
    if (!STATES.includes(state)) refuse('update.states', state, `of ${STATES.join(', ')}`);
  });
  checkObject('update.settings', settings);
  if (typeof checkLearningRate === 'function' && typeof description === 'string') return;
  throw new FoldstepError('INVALID_ARGUMENT', 'update must be what sgd, adam or adamw gives');
}

// The kernels compute in FP32, and what matters of a setting is what is left of it there: 1e308 is infinite, 1e-46 is 0
// and 0.99999999 is 1. So each check looks at the rounded value.

/** Throws INVALID_ARGUMENT, naming the setting, unless it is 0 or more and finite in FP32. */
export function checkAmount(name: string, value: number): void {
  if (typeof value === 'number' && value >= 0 && isFiniteInFp32(value)) return;
  refuse(name, value, `a finite number from 0; FP32 holds those up to ${LARGEST}`);
}

/** Throws INVALID_ARGUMENT, naming the setting, unless it is more than 0 and finite, in FP32 too. */
export function checkPositive(name: string, value: number): void {
  if (typeof value === 'number' && Math.fround(value) > 0 && isFiniteInFp32(value)) return;
  refuse(name, value, `a finite number of more than 0; FP32 holds those from 1.4e-45 to ${LARGEST}`);
}

/** Throws INVALID_ARGUMENT, naming the setting, unless it is 0 or more and below 1, in FP32 too. */
export function checkFraction(name: string, value: number): void {
  if (typeof value === 'number' && value >= 0 && Math.fround(value) < 1) return;
  refuse(name, value, 'from 0 to below 1; the largest such number of FP32 is 0.99999994');
}

/**
 * Throws INVALID_ARGUMENT unless the learning rate, and its product with the weight decay, are finite in FP32. A step of a
 * finite rate may still carry a master beyond FP32's range: nothing looks for that.
 */
export function checkRate(name: string, learningRate: number, weightDecay: number): void {
  checkAmount(name, learningRate);
  if (isFiniteInFp32(learningRate * weightDecay)) return;
  refuse(
    name,
    learningRate,
    `so small that its product with the weightDecay of ${weightDecay} is finite in FP32`,
  );
}

const LARGEST = '3.4028235e38';

function isFiniteInFp32(value: number): boolean {
  return Number.isFinite(Math.fround(value));
}

function refuse(name: string, value: unknown, bound: string): never {
  throw new FoldstepError('INVALID_ARGUMENT', `${name} must be ${bound}; it is ${show(value)}`);
}
