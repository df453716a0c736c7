import { expect } from 'chai';
import { run } from '../../support/job.js';
import { child } from './support.js';

const MEBIBYTE = 1 << 20;

describe('memory', () => {
  it('of dropped buffers is collected, because V8 is told of it', async () => {
    const { code, stdout, stderr } = await run([child('dropped-buffers')]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(Number(stdout)).to.be.below(1200 * MEBIBYTE);
  });
});
