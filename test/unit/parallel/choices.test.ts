import { expect } from 'chai';
import { checkChoices } from '#lib/parallel/choices.js';

describe('choices of experts', () => {
  const check = (choices: number[], topK: number, experts = 4) =>
    checkChoices(Int32Array.from(choices), topK, experts, 7);

  it('may be any experts in any order, for no token too', () => {
    expect(() => check([3, 0, 0, 1, 2, 3], 2)).not.to.throw();
    expect(() => check([], 3)).not.to.throw();
  });

  it('are refused with the token where an expert is none', () => {
    expect(() => check([0, 1, 2, 4], 2))
      .to.throw('token 1 chooses expert 4')
      .with.property('rank', 7);
    expect(() => check([-1], 1))
      .to.throw('token 0')
      .with.property('code', 'INVALID_ARGUMENT');
  });

  it('are refused with all of them where a token chooses one twice', () => {
    expect(() => check([0, 1, 2, 3, 1, 3], 3))
      .to.throw('token 1 chooses expert 3 twice ([3, 1, 3])')
      .with.property('code', 'INVALID_ARGUMENT');
  });

  it('are refused where they are no whole number of tokens, and of another type', () => {
    expect(() => check([0, 1, 2], 2))
      .to.throw()
      .with.property('code', 'INVALID_LENGTH');
    expect(() => check([0], 0))
      .to.throw()
      .with.property('code', 'INVALID_ARGUMENT');
    expect(() => checkChoices([0, 1] as never, 2, 4, 0))
      .to.throw()
      .with.property('code', 'INVALID_ARGUMENT');
  });
});
