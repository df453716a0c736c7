import { checkFields, checkList } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';
import { checkAmount, checkFraction, checkPositive, checkRate, type UpdateRule } from './rule.js';

export interface AdamOptions {
  readonly lr: number;
  /** Default [0.9, 0.999]. */
  readonly betas?: readonly [number, number];
  /** Added to the square root of the second moment, so that a gradient of 0 is divided by no 0. Default 1e-8. */
  readonly eps?: number;
  /** Default 0. */
  readonly weightDecay?: number;
}

/**
 * Adam, with `weightDecay * master` added to the gradient (Kingma and Ba, 2015). Throws INVALID_ARGUMENT for a setting that
 * is out of range in FP32, in which the step is computed.
 */
export function adam(options: AdamOptions): UpdateRule {
  return adaptive('adam', options);
}

/** Adam with decoupled weight decay, `master *= 1 - lr * weightDecay` (Loshchilov and Hutter, 2019). Throws as `adam` does. */
export function adamw(options: AdamOptions): UpdateRule {
  return adaptive('adamw', options);
}

function adaptive(rule: 'adam' | 'adamw', options: AdamOptions): UpdateRule {
  const given = checkFields(`the options of ${rule}`, options, ['lr', 'betas', 'eps', 'weightDecay']);
  const { lr, eps = 1e-8, weightDecay = 0 } = given;
  const betas = checkList('betas', given.betas ?? [0.9, 0.999], (beta, i) => {
    checkFraction(`betas[${i}]`, beta);
    return beta;
  });
  if (betas.length !== 2) {
    throw new FoldstepError('INVALID_ARGUMENT', `betas must be two numbers; it is ${show(betas)}`);
  }
  const [beta1, beta2] = betas as [number, number];
  checkPositive('eps', eps);
  checkAmount('weightDecay', weightDecay);
  checkRate('lr', lr, weightDecay);
  return {
    learningRate: lr,
    states: ['exp_avg', 'exp_avg_sq'],
    description: JSON.stringify({ [rule]: { lr, betas, eps, weightDecay } }),
    settings: { rule, weightDecay, momentum: 0, nesterov: false, beta1, beta2, epsilon: eps },
    checkLearningRate: (learningRate) => checkRate('learningRate', learningRate, weightDecay),
  };
}
