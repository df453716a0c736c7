import { checkFields, checkFlag } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { checkAmount, checkFraction, checkRate, type UpdateRule } from './rule.js';

export interface SgdOptions {
  readonly lr: number;
  /** Default 0: no momentum buffer is kept. */
  readonly momentum?: number;
  /** Look ahead along the momentum, which must then be more than 0. Default false. */
  readonly nesterov?: boolean;
  /** Added to the gradient as `weightDecay * master`. Default 0. */
  readonly weightDecay?: number;
}

/**
 * Stochastic gradient descent: `v = momentum * v + g; master -= lr * (nesterov ? g + momentum * v : v)`.
 * Throws INVALID_ARGUMENT for a setting that is out of range in FP32, in which the step is computed.
 */
export function sgd(options: SgdOptions): UpdateRule {
  const {
    lr,
    momentum = 0,
    nesterov = false,
    weightDecay = 0,
  } = checkFields('the options of sgd', options, ['lr', 'momentum', 'nesterov', 'weightDecay']);
  checkFraction('momentum', momentum);
  checkFlag('nesterov', nesterov);
  if (nesterov && Math.fround(momentum) === 0) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      'nesterov looks ahead along the momentum, and there is none: give a momentum of more than 0, or leave nesterov out',
    );
  }
  checkAmount('weightDecay', weightDecay);
  checkRate('lr', lr, weightDecay);
  return {
    learningRate: lr,
    states: momentum > 0 ? ['momentum_buffer'] : [],
    description: JSON.stringify({ sgd: { lr, momentum, nesterov, weightDecay } }),
    settings: { rule: 'sgd', weightDecay, momentum, nesterov, beta1: 0, beta2: 0, epsilon: 0 },
    checkLearningRate: (learningRate) => checkRate('learningRate', learningRate, weightDecay),
  };
}
