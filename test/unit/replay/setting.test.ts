import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { settingsOf } from '#lib/replay/setting.js';

describe('settings of a replay', () => {
  it('are those of the case where nothing is chosen', () => {
    expect(settingsOf({}, 2)).to.deep.equal([{ path: 'auto', correct: 'microbatch', zeroStage: 2 }]);
  });

  it('are every combination of what is chosen', () => {
    const settings = settingsOf({ path: 'direct, library', correct: 'step', zero: '0,1,2' }, 1);
    expect(settings.map(({ path, correct, zeroStage }) => `${path} ${correct} ${zeroStage}`)).to.deep.equal([
      'direct step 0',
      'direct step 1',
      'direct step 2',
      'library step 0',
      'library step 1',
      'library step 2',
    ]);
  });

  it('are refused with what there is', () => {
    expect(() => settingsOf({ path: 'fast' }, 1)).to.throw(
      FoldstepError,
      /--path may be auto, direct, .*, not 'fast'/,
    );
    expect(() => settingsOf({ correct: '' }, 1)).to.throw(FoldstepError, /--correct may be microbatch, step/);
    expect(() => settingsOf({ zero: '3' }, 1)).to.throw(FoldstepError, /--zero may be 0, 1, 2, not '3'/);
    expect(() => settingsOf({ zero: '1.0' }, 1)).to.throw(FoldstepError, /not '1.0'/);
  });
});
