import { checkFields, checkFlag } from '../arguments.js';
import { checkSetting, type UpdateRule } from './rule.js';

export interface SgdOptions {
  readonly lr: number;
  /** Default 0: no momentum buffer is kept. */
  readonly momentum?: number;
  readonly nesterov?: boolean;
  /** Added to the gradient as `weightDecay * master`. Default 0. */
  readonly weightDecay?: number;
}

/**
 * Stochastic gradient descent: `v = momentum * v + g; master -= lr * (nesterov ? g + momentum * v : v)`.
 * Throws INVALID_ARGUMENT for a setting out of range.
 */
export function sgd(options: SgdOptions): UpdateRule {
  const {
    lr,
    momentum = 0,
    nesterov = false,
    weightDecay = 0,
  } = checkFields('the options of sgd', options, ['lr', 'momentum', 'nesterov', 'weightDecay']);
  checkSetting('lr', lr, 0, Number.POSITIVE_INFINITY);
  checkSetting('momentum', momentum, 0, 1);
  checkFlag('nesterov', nesterov);
  checkSetting('weightDecay', weightDecay, 0, Number.POSITIVE_INFINITY);
  return {
    learningRate: lr,
    states: momentum > 0 ? ['momentum_buffer'] : [],
    description: JSON.stringify({ sgd: { lr, momentum, nesterov, weightDecay } }),
    settings: (step, learningRate) => ({
      rule: 'sgd',
      learningRate,
      weightDecay,
      momentum,
      nesterov,
      beta1: 0,
      beta2: 0,
      epsilon: 0,
      step,
    }),
  };
}
