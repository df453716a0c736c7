import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';
import { float32Of } from './folded-training.js';
import type { Variant } from './variants-scenarios.js';

describe('GLM4-MoE on four ranks (tp 2, ep 4), three steps of the same data', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(4, 'example/variants-scenarios');
  });

  it('is one step in 1, 2 or 4 micro-batches: FP32 sums in another order', () => {
    for (const [whole, ...cut] of values<Variant[]>(outcomes['microbatches'])) {
      for (const { masters, norms } of cut) {
        for (const [i, norm] of norms.entries()) {
          expect(norm).to.be.closeTo(whole!.norms[i]!, 1e-6 * norm);
        }
        for (const [name, text] of Object.entries(masters)) {
          const [got, want] = [float32Of(text), float32Of(whole!.masters[name]!)];
          const largest = want.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
          const error = want.reduce((most, value, i) => Math.max(most, Math.abs(value - got[i]!)), 0);
          expect(error, name).to.be.at.most(1e-6 * largest);
        }
      }
    }
  });

  it('has the same bits with gradients accumulated while others are computed, at every ZeRO stage', () => {
    for (const pairs of values<[Variant, Variant][]>(outcomes['overlap'])) {
      expect(pairs).to.have.length(3);
      for (const [apart, overlapped] of pairs) expect(overlapped).to.deep.equal(apart);
    }
  });
});
