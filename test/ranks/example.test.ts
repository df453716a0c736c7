import { expect } from 'chai';
import { foldstep } from '../support/job.js';

describe('the examples', () => {
  it('train on four ranks, with a falling norm and nothing on standard error', async () => {
    const { code, stdout, stderr } = await foldstep(['run', '-n', '4', 'examples/train.mjs']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const norms = [...stdout.matchAll(/norm ([\d.]+)/g)].map(([, norm]) => Number(norm));
    expect(norms).to.have.length(4);
    for (const [i, norm] of norms.slice(1).entries()) expect(norm).to.be.below(norms[i]!);
  });

  for (const device of ['cpu', 'simulated']) {
    it(`take gradients from arrays and in place, on the ${device} device`, async () => {
      const { code, stdout, stderr } = await foldstep(['run', '-n', '2', 'examples/gpu.mjs', device]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      // Lanes of 1 and 2, and of 2 and 3: sqrt(64 * 1.5^2 + 4096 * 2.5^2).
      expect(stdout).to.match(new RegExp(`^${device}: bias 1.5, norm 160.4494, weight \\d+\n$`));
    });
  }

  it('use the operations underneath: 1 and 1.0078125 average to 1.00390625, twice that is 2.0078125', async () => {
    const { code, stdout, stderr } = await foldstep(['run', '-n', '2', 'examples/raw.mjs']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.equal('average 1.00390625, summed over ranks 2.0078125\n');
  });
});
