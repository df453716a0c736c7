import { readFileSync } from 'node:fs';
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

  it('train a small network, data-parallel, in under 80 lines: the same on one rank and on four', async () => {
    const losses = async (ranks: number): Promise<number[]> => {
      const { code, stdout, stderr } = await foldstep(['run', '-n', String(ranks), 'build/examples/mlp.js']);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      return [...stdout.matchAll(/loss ([\d.]+)/g)].map(([, loss]) => Number(loss));
    };
    const [alone, shared] = [await losses(1), await losses(4)];
    // It begins with the function that is 0: the mean of sin(3x)^2 is (1 - sin(6)/6) / 2, that of y^2 is 1/3.
    const first = ((1 - Math.sin(6) / 6) / 2) * (1 / 3);
    expect(alone[0]).to.be.closeTo(first, 0.01 * first);
    expect(alone.at(-1)).to.be.below(first / 100);
    // The mean of four BF16 gradients is not the BF16 of their mean: the two ways part by its rounding, and no further.
    expect(shared).to.have.length(alone.length);
    for (const [i, loss] of shared.entries()) expect(loss).to.be.closeTo(alone[i]!, 0.002 * first);
    const source = new URL('../../../examples/mlp.ts', import.meta.url);
    expect(readFileSync(source, 'utf8').trimEnd().split('\n')).to.have.length.below(80);
  });

  it('use the operations underneath: 1 and 1.0078125 average to 1.00390625, twice that is 2.0078125', async () => {
    const { code, stdout, stderr } = await foldstep(['run', '-n', '2', 'examples/raw.mjs']);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.equal('average 1.00390625, summed over ranks 2.0078125\n');
  });
});
