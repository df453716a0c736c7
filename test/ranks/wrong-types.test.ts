import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';
import type { Refusal } from '../support/refusal.js';

describe('calls with wrong types on two ranks', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(2, 'wrong-types-two');
  });

  it('are refused where they are made, and leave the ranks in step', () => {
    for (const result of values(outcomes['refusals'])) {
      // Twice 1, 2, 3, 4: the all-reduce after the wrong calls is the first one that either rank began.
      expect(result).to.deep.equal({ codes: ['INVALID_ARGUMENT'], sum: [2, 4, 6, 8] });
    }
  });

  it('are told, with names of other ranks, in text that no terminal obeys', () => {
    for (const { code, message } of values<Refusal>(outcomes['hostileNames'])) {
      expect(code).to.equal('PARAMETERS_DIFFER');
      expect(message).to.contain('\\u{001b}[31mred\\u{202e}');
      expect(message).not.to.match(/[\p{Cc}\p{Cf}]/u);
      expect(message).to.have.length.below(6000);
    }
  });
});
