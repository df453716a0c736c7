import { expect } from 'chai';
import { job, type Outcome, values } from '../support/job.js';

describe('four ranks on two nodes', () => {
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    outcomes = await job(4, 'nodes-four');
  });

  it('finds out which ranks share memory', () => {
    expect(values(outcomes['places'])).to.deep.equal([
      { node: 0, localRank: 0, localSize: 2 },
      { node: 0, localRank: 1, localSize: 2 },
      { node: 2, localRank: 0, localSize: 2 },
      { node: 2, localRank: 1, localSize: 2 },
    ]);
  });

  it('takes owner for lanes on one node and exchange for lanes on two', () => {
    for (const chosen of values(outcomes['pathsByPlace'])) {
      expect(chosen).to.deep.equal({ 2: 'owner', 4: 'exchange' });
    }
  });

  it('refuses direct for lanes on two nodes', () => {
    expect(values(outcomes['directAcrossNodes'])).to.deep.equal(
      Array.from({ length: 4 }, () => 'PATH_UNAVAILABLE'),
    );
  });

  it('ends with the same bits as four ranks on one node', async () => {
    const together = await job(4, 'one-node-four');
    expect(values(outcomes['sameBitsAsSharedMemory'])).to.deep.equal(
      values(together['sameBitsAsSharedMemory']),
    );
  });
});
