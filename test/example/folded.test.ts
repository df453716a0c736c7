import { expect } from 'chai';
import { init } from '#lib/device/init.js';
import { job, type Outcome, values } from '../support/job.js';
import {
  decisionsOf,
  float32Of,
  keyOf,
  MODES,
  type Mode,
  type TrainingRecord,
  train,
} from './folded-training.js';
import { type Flip, flipText, routingFlips } from './routing-flips.js';
import { SMALL } from './small-training.js';

/** What rounding to the nearest BF16 number loses at most, relative to the number: half of the distance of two. */
const BF16_ROUNDING = 2 ** -8;

/**
 * What scores may differ by between runs whose decisions were the same so far. Their weights differ by a BF16 rounding here
 * and there: each moves a score's argument, a sum of 32 products of a weight of about 1/2 and an input of about 1, by at most
 * 32 * 2^-9, and the score by a quarter of that.
 */
const ROUNDED_SCORES = 2 ** -6;

const MESHES = {
  tp2ep2: { tp: 2, dp: 2 },
  tp2ep4: { tp: 2, dp: 2 },
  tp4ep2: { tp: 4, dp: 1 },
  tp1ep4: { tp: 1, dp: 4 },
};

describe('GLM4-MoE on four ranks, against one rank with the same weights and batches, over ten steps', () => {
  const alone = {} as Record<Mode, TrainingRecord>;
  let outcomes: Record<string, Outcome[]>;
  before(async () => {
    const device = await init({ launcher: 'none' });
    for (const mode of Object.keys(MODES) as Mode[]) alone[mode] = await train(device, {}, mode, 0);
    device.dispose();
    outcomes = await job(4, 'example/folded-scenarios');
  });

  for (const [mesh, { tp, dp }] of Object.entries(MESHES)) {
    for (const zero of [0, 1, 2]) {
      describe(`${mesh}, ZeRO ${zero}`, () => {
        const ranksOf = (mode: Mode) =>
          values<Record<string, TrainingRecord>>(outcomes[mesh]).map(
            (records) => records[keyOf(mode, zero)]!,
          );
        const flipsOf = (mode: Mode): Flip[] => {
          const ranks = ranksOf(mode);
          const firstLanes = Array.from({ length: dp }, (_, d) => ranks[d * tp]!);
          const noBias = () => new Float32Array(SMALL.experts);
          return routingFlips(decisionsOf([alone[mode]]), decisionsOf(firstLanes), noBias, SMALL);
        };
        it('sends a token to other experts only where these were tied', () => {
          for (const mode of Object.keys(MODES) as Mode[]) {
            const [first, ...others] = flipsOf(mode);
            if (!first) continue;
            const text = `${mode}: ${flipText(first)}`;
            console.log(`          ${text}${others.length > 0 ? `; ${others.length} follow` : ''}`);
            // Choices follow from scores, so what two runs decide differently was no further apart than twice this.
            expect(first.difference, text).to.be.below(ROUNDED_SCORES);
          }
        });

        it('has the same losses: within 1e-3 with BF16 gradients, 1e-5 with FP32', () => {
          for (const mode of Object.keys(MODES) as Mode[]) {
            for (const { losses } of ranksOf(mode)) {
              expect(losses).to.have.length(10);
              for (const [i, loss] of losses.entries()) {
                const bound = mode === 'float32' ? 1e-5 : 1e-3;
                expect(loss, `${mode}, step ${i + 1}`).to.be.closeTo(alone[mode].losses[i]!, bound);
              }
            }
          }
        });

        it('has the same norms: within 1e-3 with BF16 gradients, 1e-6 with FP32; the same bits on every rank', () => {
          for (const mode of Object.keys(MODES) as Mode[]) {
            const [{ norms }, ...others] = ranksOf(mode) as [TrainingRecord, ...TrainingRecord[]];
            for (const other of others) expect(other.norms).to.deep.equal(norms);
            for (const [i, norm] of norms.entries()) {
              const want = alone[mode].norms[i]!;
              const bound = want * (mode === 'float32' ? 1e-6 : 1e-3);
              expect(norm, `${mode}, step ${i + 1}`).to.be.closeTo(want, bound);
            }
          }
        });

        it('has, with FP32 gradients, every parameter within 1e-5 of its largest entry', () => {
          expect(flipsOf('float32').map(flipText)).to.deep.equal([]);
          const [folded] = ranksOf('float32') as [TrainingRecord];
          for (const [name, { error, largest }] of differences(folded, alone.float32)) {
            expect(error, name).to.be.at.most(1e-5 * largest);
          }
        });

        // A contribution g to a step's gradient loses at most 2^-8 |g| by rounding, so the gradient at most 2^-8 times the sum
        // of their magnitudes, in either run; the learning rate carries that into the weights, step by step. From the second
        // step on the weights differ, and with them the gradients themselves: as much again.
        it('has, with BF16 gradients, every parameter within what their rounding allows', () => {
          expect(flipsOf('bfloat16').map(flipText)).to.deep.equal([]);
          const ranks = ranksOf('bfloat16');
          for (const [name, { error }] of differences(ranks[0]!, alone.bfloat16)) {
            const magnitude = Math.max(...ranks.map(({ magnitudes }) => magnitudes[name]!));
            const lost = BF16_ROUNDING * (magnitude + alone.bfloat16.magnitudes[name]!);
            expect(error, name).to.be.at.most(2 * MODES.bfloat16.rate * lost);
          }
        });
      });
    }
  }

  it('moves every parameter much further than two runs differ', () => {
    const [first] = values<Record<string, TrainingRecord>>(outcomes['tp2ep4']) as [
      Record<string, TrainingRecord>,
    ];
    for (const [name, { error }] of differences(first[keyOf('bfloat16', 2)]!, alone.bfloat16)) {
      expect(alone.bfloat16.moved[name], name).to.be.above(20 * error);
    }
  });
});

function differences(folded: TrainingRecord, alone: TrainingRecord) {
  return Object.entries(alone.masters).map(([name, text]) => {
    const [got, want] = [float32Of(folded.masters[name]!), float32Of(text)];
    const error = want.reduce((most, value, i) => Math.max(most, Math.abs(value - got[i]!)), 0);
    const largest = want.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    return [name, { error, largest }] as const;
  });
}
