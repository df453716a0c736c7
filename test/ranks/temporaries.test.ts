import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';

describe('temporaries of correct-and-accumulate, as the ledger measured them', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(2, 'temporaries-two');
  });
  const all = () =>
    values<{ path: string; elements: number; peak: number; left: number; value: number }[]>(
      outcomes['peaks'],
    ).flat();
  const of = (path: string) => all().filter((result) => result.path === path);

  it('are 0 bytes on direct and owner, whatever n', () => {
    const results = [...of('direct'), ...of('owner')];
    expect(results).to.have.length(24);
    for (const { peak } of results) expect(peak).to.equal(0);
  });

  it('are at most 2 MiB on exchange, whatever n', () => {
    for (const { peak } of of('exchange'))
      expect(peak)
        .to.be.above(0)
        .and.at.most(2 ** 21);
  });

  it('are 4n bytes on library', () => {
    for (const { peak, elements } of of('library')) expect(peak).to.equal(4 * elements);
  });

  it('are given back, and every path averages 1 and 1.0078125 to 1.00390625', () => {
    for (const { left, value } of all())
      expect({ left, value }).to.deep.equal({ left: 0, value: 1.00390625 });
  });
});
