import { expect } from 'chai';
import { FAULTS } from './catalogue.js';
import { draw } from './draw.js';
import { MOMENTS } from './plan.js';

describe("the campaign's draw", () => {
  const sixty = draw({ seed: 1, runs: 60 });

  it('has every fault, every moment and every number of ranks in sixty runs', () => {
    const names = FAULTS.map(({ name }) => name);
    expect(new Set(sixty.map(({ fault }) => fault))).to.deep.equal(new Set(names));
    expect(new Set(sixty.map(({ moment }) => moment))).to.deep.equal(new Set(MOMENTS));
    expect(new Set(sixty.map(({ ranks }) => ranks))).to.deep.equal(new Set([2, 3, 4, 5, 6, 7, 8]));
  });

  it('has every fault once before it has one twice', () => {
    const first = sixty.slice(0, FAULTS.length).map(({ fault }) => fault);
    expect(new Set(first).size).to.equal(FAULTS.length);
  });

  it('is the same for the same seed, however many runs are asked for, and another for another', () => {
    expect(draw({ seed: 1, runs: 7 })).to.deep.equal(sixty.slice(0, 7));
    expect(draw({ seed: 2, runs: 7 })).to.not.deep.equal(sixty.slice(0, 7));
  });

  it('draws only meshes that there are, and culprits that are of the job', () => {
    for (const { ranks, tp, ep, culprit } of draw({ seed: 3, runs: 500 })) {
      expect([ranks % tp, ranks % ep]).to.deep.equal([0, 0]);
      expect(culprit).to.be.within(0, ranks - 1);
    }
  });

  it('draws one fault alone, at each of its moments in turn', () => {
    const { moments } = FAULTS.find(({ name }) => name === 'stopped')!;
    const plans = draw({ seed: 1, runs: moments.length, only: ['stopped'], ranks: 4 });
    expect(new Set(plans.map(({ moment }) => moment))).to.deep.equal(new Set(moments));
    expect(new Set(plans.map(({ fault, ranks }) => `${fault} of ${ranks}`))).to.deep.equal(
      new Set(['stopped of 4']),
    );
  });
});
