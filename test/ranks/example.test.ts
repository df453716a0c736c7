import { expect } from 'chai';
import { foldstep } from '../support/job.js';

describe('the example', () => {
  it('runs on four ranks, with a falling norm and nothing on standard error', async () => {
    const { code, stdout, stderr } = await foldstep(['run', '-n', '4', 'examples/train.mjs']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const norms = [...stdout.matchAll(/norm ([\d.]+)/g)].map(([, norm]) => Number(norm));
    expect(norms).to.have.length(4);
    for (const [i, norm] of norms.slice(1).entries()) expect(norm).to.be.below(norms[i]!);
  });
});
