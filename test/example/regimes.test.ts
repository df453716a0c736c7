import { expect } from 'chai';
import { init } from '#lib/device/init.js';
import { job, values } from '../support/job.js';
import { REGIME_STEPS, REGIMES, type RegimesRecord, trainRegimes } from './regimes.js';
import { SMALL } from './small-training.js';

const MEGABYTE = 1e6;

describe('200 steps on four ranks (tp 2, ep 4) in which other experts are hot every 50', () => {
  let alone: RegimesRecord;
  let ranks: RegimesRecord[];
  before(async () => {
    const device = await init({ launcher: 'none' });
    alone = await trainRegimes(device, {}, 0);
    device.dispose();
    // The young generation grows with how fast a process happens to allocate, up to 48 MB: here it is kept small.
    const environment = { NODE_OPTIONS: '--max-semi-space-size=2' };
    ranks = values((await job(4, 'example/regimes-scenarios', environment))['tp2ep4']);
  });

  it('leaves half of the experts without a token, and with them two of the four ranks', () => {
    const perRank = SMALL.experts / 4;
    for (const { loads } of ranks) {
      for (const [regime, load] of loads.entries()) {
        const idle = Array.from({ length: 4 }, (_, owner) => {
          const owned = load.slice(owner * perRank, (owner + 1) * perRank);
          return owned.every((tokens) => tokens === 0);
        });
        // Each rank owns the two experts of one group.
        expect(idle.map((is, owner) => (is ? owner : -1)).filter((owner) => owner >= 0)).to.have.members([
          (regime + 2) % REGIMES,
          (regime + 3) % REGIMES,
        ]);
      }
    }
  });

  it("tracks the unsharded run's losses, and learns", () => {
    const learnt = (losses: number[]) => mean(losses.slice(0, 10)) - mean(losses.slice(-10));
    expect(learnt(alone.losses)).to.be.above(0.1);
    for (const { losses } of ranks) {
      expect(losses).to.have.length(REGIMES * REGIME_STEPS);
      // Two runs that round at different places send some tokens near a tie elsewhere; single losses show that, means do not.
      for (const [i, loss] of losses.entries()) {
        expect(loss, `step ${i + 1}`).to.be.closeTo(alone.losses[i]!, 0.02);
      }
      for (let regime = 0; regime < REGIMES; regime++) {
        const of = (all: number[]) => mean(all.slice(regime * REGIME_STEPS, (regime + 1) * REGIME_STEPS));
        expect(of(losses), `regime ${regime + 1}`).to.be.closeTo(of(alone.losses), 2e-3);
      }
    }
  });

  it('keeps the memory of every rank within 16 MB of its level at step 20', () => {
    for (const [rank, { resident }] of ranks.entries()) {
      const [[step, level], ...later] = resident as [[number, number], ...[number, number][]];
      expect(step).to.equal(20);
      expect(later.at(-1)![0]).to.equal(200);
      for (const [at, bytes] of later) {
        expect(bytes - level, `rank ${rank}, step ${at}`).to.be.below(16 * MEGABYTE);
      }
    }
  });
});

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
