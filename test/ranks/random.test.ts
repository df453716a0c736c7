import { expect } from 'chai';
import { job, values } from '../support/job.js';

describe('random meshes, families, partitions and settings on eight ranks', () => {
  it('give the reduced gradient and the norm of the formula, computed in FP64 from every rank’s gradients', async () => {
    const { againstTheFormula } = await job(8, 'random-eight');
    // Gradients are below 4 in magnitude and at most 24 of them are added: FP32 rounding stays below 2^-18.
    for (const worst of values<Record<string, number>>(againstTheFormula)) {
      expect(worst['trials']).to.equal(40);
      expect(worst['elements']).to.be.above(1000);
      expect(worst['gradient']).to.be.below(2 ** -18);
      expect(worst['norm']).to.be.below(1e-6);
    }
  });
});
