import { expect } from 'chai';
import fc from 'fast-check';
import type { UpdateSettings } from '#lib/device/operations/update.js';
import { FoldstepError } from '#lib/errors.js';
import { adam, adamw } from '#lib/update/adam.js';
import { sgd } from '#lib/update/sgd.js';

function refused(make: () => unknown, says: RegExp): void {
  expect(make).to.throw(FoldstepError, says).with.property('code', 'INVALID_ARGUMENT');
}

describe('the settings of an update rule', () => {
  it('refuse nesterov where there is no momentum, also one that FP32 rounds to 0', () => {
    refused(
      () => sgd({ lr: 0.1, nesterov: true }),
      /nesterov looks ahead along the momentum, and there is none/,
    );
    // Half of the smallest number of FP32, 2^-149, is a tie and goes to 0.
    refused(() => sgd({ lr: 0.1, momentum: 2 ** -150, nesterov: true }), /there is none/);
    expect(sgd({ lr: 0.1, momentum: 0.9, nesterov: true }).states).to.deep.equal(['momentum_buffer']);
  });

  it('refuse amounts that are infinite in FP32, and take the largest that is not', () => {
    const largest = (2 - 2 ** -23) * 2 ** 127;
    // Half a unit in the last place above it, FP32 rounds to infinity.
    const tooLarge = (2 - 2 ** -24) * 2 ** 127;
    for (const rule of [sgd, adam, adamw]) {
      expect(rule({ lr: largest }).learningRate).to.equal(largest);
      for (const lr of [tooLarge, 1e308, Number.POSITIVE_INFINITY, Number.NaN, -1]) {
        refused(
          () => rule({ lr }),
          /^lr must be a finite number from 0; FP32 holds those up to 3\.4028235e38/,
        );
      }
      refused(() => rule({ lr: 0, weightDecay: 1e39 }), /^weightDecay must be a finite number/);
    }
    refused(() => adam({ lr: 1, eps: 1e39 }), /^eps must be a finite number/);
  });

  it('refuse an eps that is 0 in FP32: a gradient of 0 would be divided by it', () => {
    for (const eps of [0, 1e-46, -1e-8]) {
      refused(
        () => adam({ lr: 1, eps }),
        /^eps must be a finite number of more than 0; FP32 holds those from 1\.4e-45/,
      );
      refused(() => adamw({ lr: 1, eps }), /^eps must be a finite number of more than 0/);
    }
    expect(adamw({ lr: 1, eps: 2 ** -149 }).settings.epsilon).to.equal(2 ** -149);
  });

  it('refuse fractions that are 1 in FP32', () => {
    refused(() => sgd({ lr: 1, momentum: 0.99999999 }), /^momentum must be from 0 to below 1; the largest/);
    refused(() => adamw({ lr: 1, betas: [0.99999999, 0.9] }), /^betas\[0\] must be from 0 to below 1/);
    refused(() => adam({ lr: 1, betas: [0.9, 0.99999999] }), /^betas\[1\] must be from 0 to below 1/);
    expect(sgd({ lr: 1, momentum: 0.99999994 }).states).to.have.length(1);
  });

  it('refuse a rate whose product with the weight decay is infinite in FP32, also one that is set later', () => {
    refused(
      () => adamw({ lr: 1e20, weightDecay: 1e20 }),
      /^lr must be so small that its product with the weightDecay/,
    );
    const rule = adamw({ lr: 1, weightDecay: 1e20 });
    refused(() => rule.checkLearningRate(1e20), /^learningRate must be so small/);
    refused(() => sgd({ lr: 1 }).checkLearningRate(1e39), /^learningRate must be a finite number/);
  });

  it('refuse what is of another kind, whatever it is', () => {
    const any = (value: unknown) => value as never;
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const value of [1n, null, '1', {}, Object.create(null), circular, Symbol('s'), [1]]) {
      refused(() => sgd({ lr: any(value) }), /^lr must be/);
      refused(() => sgd({ lr: 1, momentum: any(value) }), /^momentum must be/);
      refused(() => sgd({ lr: 1, nesterov: any(value) }), /^nesterov must be true or false/);
      refused(() => adamw({ lr: 1, eps: any(value) }), /^eps must be/);
      refused(() => adamw({ lr: 1, betas: any([value, 0.9]) }), /^betas\[0\] must be/);
    }
  });

  it('that are accepted are finite in FP32, with fractions below 1 and an eps above 0', () => {
    const any = fc.double();
    fc.assert(
      fc.property(any, any, any, any, any, (lr, weightDecay, beta1, beta2, eps) => {
        let settings: UpdateSettings;
        try {
          const rule = adamw({ lr, weightDecay, betas: [beta1, beta2], eps });
          rule.checkLearningRate(lr);
          settings = rule.settings;
        } catch (error) {
          return error instanceof FoldstepError && error.code === 'INVALID_ARGUMENT';
        }
        const rounded = [lr, settings.weightDecay, lr * weightDecay].map(Math.fround);
        const fractions = [settings.beta1, settings.beta2].map(Math.fround);
        return (
          rounded.every((value) => value >= 0 && value < Number.POSITIVE_INFINITY) &&
          fractions.every((value) => value >= 0 && value < 1) &&
          Math.fround(settings.epsilon) > 0
        );
      }),
    );
  });
});
