import { expect } from 'chai';
import { toBFloat16 } from '#lib/device/bfloat16.js';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import type { FoldstepErrorCode } from '#lib/errors.js';
import { Mesh } from '#lib/mesh/mesh.js';
import { evaluationBatches } from '../../examples/glm4-moe/train/batches.js';
import type { GradientSink, TrainableModel } from '../../examples/glm4-moe/train/model.js';
import { Trainer } from '../../examples/glm4-moe/train/trainer.js';
import { bits32, fold } from '../support/fold.js';
import { refusal } from '../unit/device/support.js';
import {
  Bigram,
  type BigramChoices,
  bigramTraining,
  CYCLIC_VOCABULARY,
  cyclicText,
  lossesOf,
} from './train-bigram.js';

const sizes = { sequences: 16, length: 12, dataRanks: 1, dataRank: 0, microbatches: 2 };

describe('the training loop', () => {
  let device: Device;
  before(async () => {
    device = await init({ launcher: 'none' });
  });
  after(() => device.dispose());

  /** The masters after so many steps. */
  async function mastersAfter(steps: number, choices: BigramChoices): Promise<Float32Array> {
    const { trainer, optimizer } = await bigramTraining(device, choices);
    await lossesOf(trainer, steps);
    const masters = ['table', 'bias'].flatMap((name) => [...optimizer.shard(name, 'master').values]);
    optimizer.dispose();
    return Float32Array.from(masters);
  }

  it('begins at ln 8, as eight equally likely tokens have it, and learns what follows what', async () => {
    const { trainer } = await bigramTraining(device);
    const losses = await lossesOf(trainer, 60);
    expect(losses[0]).to.be.closeTo(Math.log(8), 1e-6);
    // The conditional entropy of a token of this text given the one before is 0.453 nats.
    expect(losses.slice(-10).reduce((sum, loss) => sum + loss / 10, 0)).to.be.within(0.453, 0.75);
  });

  it('reports the step as the optimizer and the schedule have it', async () => {
    const { trainer } = await bigramTraining(device, {
      optimizer: { maxNorm: 1e-3 },
      trainer: { schedule: (step) => 1 / step },
    });
    const [first, second] = [await trainer.step(), await trainer.step()];
    expect(first).to.include({ step: 1, learningRate: 1, skipped: false });
    expect(second).to.include({ step: 2, learningRate: 1 / 2 });
    expect(first.clipCoefficient).to.be.closeTo(1e-3 / first.gradNorm, 1e-6);
    expect(first.tokensPerSecond * first.seconds).to.be.closeTo(16 * 12, 1e-6);
    expect(first.residentBytes).to.be.above(2 ** 20);
    expect(first.temporaryPeakBytes).to.be.at.least(0);
  });

  it('takes the same step from 1, 2 and 4 micro-batches of the same data', async () => {
    const [one, two, four] = [1, 2, 4].map((microbatches) => mastersAfter(1, { microbatches }));
    const whole = await one!;
    const largest = Math.max(...whole.map(Math.abs));
    expect(largest).to.be.above(0.1);
    for (const parts of [await two!, await four!]) {
      // FP32 sums of the same terms in another order.
      for (const [i, value] of parts.entries()) expect(value).to.be.closeTo(whole[i]!, 1e-6 * largest);
    }
  });

  for (const gradientType of ['float32', 'bfloat16'] as const) {
    it(`gives the same bits with and without overlap, from ${gradientType} gradients`, async () => {
      const choices: BigramChoices = { microbatches: 2, optimizer: { gradientType } };
      const at = await mastersAfter(5, choices);
      const overlapped = await mastersAfter(5, { ...choices, trainer: { overlap: true } });
      expect(bits32(overlapped)).to.deep.equal(bits32(at));
    });
  }

  it('rounds gradients to BF16 where the optimizer takes them so', async () => {
    const [exact, rounded] = [
      await mastersAfter(1, {}),
      await mastersAfter(1, { optimizer: { gradientType: 'bfloat16' } }),
    ];
    // One step of SGD with lr 2 from 0: the master is -2 times the gradient, and a power of two keeps BF16 bits what they are.
    expect([...toBFloat16(exact)]).to.deep.equal([...toBFloat16(rounded)]);
    expect(bits32(rounded).every((bits) => (bits & 0xffff) === 0)).to.equal(true);
  });

  it("gives the model the optimizer's weights before the first pass and after every step", async () => {
    const model = new Bigram(CYCLIC_VOCABULARY);
    const seen: number[] = [];
    model.setWeight = (name, weights) => {
      if (name === 'bias') seen.push(weights[0]!);
      Bigram.prototype.setWeight.call(model, name, weights);
    };
    model.backward = async (_batch, _scale, sink) => {
      await sink(new Map([['bias', new Float32Array(8).fill(0.25)]]));
      await sink(new Map([['table', new Float32Array(64)]]));
      return 0;
    };
    const optimizer = await fold(device, {}, model.parameters, { gradientType: 'float32' });
    optimizer.load('bias', new Float32Array(8).fill(3));
    const trainer = new Trainer({ ...settings(model), optimizer });
    await trainer.step();
    await trainer.step();
    expect(seen).to.deep.equal([3, 2.75, 2.5]);
  });

  it('skips a step whose gradient is not finite, says so, and goes on from the weights it had', async () => {
    const { trainer, model, optimizer } = await bigramTraining(device);
    await trainer.step();
    const before = optimizer.weight('table').slice();
    const { backward } = Bigram.prototype;
    model.backward = (batch, _scale, sink) => backward.call(model, batch, Number.NaN, sink);
    const skipped = await trainer.step();
    expect(skipped).to.include({ step: 2, skipped: true, clipCoefficient: 0 });
    expect(skipped.gradNorm).to.be.NaN;
    expect(optimizer.weight('table')).to.deep.equal(before);
    model.backward = backward;
    expect(await trainer.step()).to.include({ step: 3, skipped: false });
  });

  it('evaluates to the mean loss of the batches, and changes nothing', async () => {
    const { trainer, model } = await bigramTraining(device);
    await trainer.step();
    const batches = evaluationBatches(cyclicText, sizes);
    const [first, second] = await Promise.all(batches.map((batch) => model.loss(batch)));
    expect(await trainer.evaluate(batches)).to.be.closeTo((first! + second!) / 2, 1e-12);
    expect(await trainer.evaluate(batches)).to.equal(await trainer.evaluate(batches));
    await refusal('INVALID_ARGUMENT', () => trainer.evaluate([]));
  });

  const faults: [string, FoldstepErrorCode, (sink: GradientSink) => Promise<void>][] = [
    [
      'a gradient that was not given',
      'GRADIENT_MISSING',
      async (sink) => sink(new Map([['table', new Float32Array(64)]])),
    ],
    [
      'a gradient that was given twice',
      'INVALID_ARGUMENT',
      async (sink) => {
        await sink(new Map([['bias', new Float32Array(8)]]));
        await sink(new Map([['bias', new Float32Array(8)]]));
      },
    ],
    [
      'a gradient of another length',
      'INVALID_LENGTH',
      async (sink) => sink(new Map([['bias', new Float32Array(7)]])),
    ],
  ];
  for (const overlap of [false, true]) {
    for (const [what, code, give] of faults) {
      it(`tells ${what}, by name, ${overlap ? 'overlapped' : 'not overlapped'}`, async () => {
        const { trainer, model } = await bigramTraining(device, { trainer: { overlap } });
        model.backward = async (_batch, _scale, sink) => {
          await give(sink);
          return 0;
        };
        const error = await refusal(code, () => trainer.step());
        expect(error.parameter).to.equal('bias');
        expect(error.message).to.contain('bias');
      });
    }
  }

  it('tells a gradient of a parameter that is none', async () => {
    const { trainer, model } = await bigramTraining(device);
    model.backward = async (_batch, _scale, sink) => {
      await sink(new Map([['head', new Float32Array(8)]]));
      return 0;
    };
    await refusal('UNKNOWN_PARAMETER', () => trainer.step());
  });

  it("tells parameters that are not the model's", async () => {
    const model = new Bigram(8);
    const [table, bias] = model.parameters as [(typeof model.parameters)[0], (typeof model.parameters)[0]];
    const trained = async (parameters: typeof model.parameters) => {
      const optimizer = await fold(device, {}, parameters);
      return refusalOf(() => new Trainer({ ...settings(model), optimizer }));
    };
    expect(await trained([table])).to.include({ code: 'UNKNOWN_PARAMETER', parameter: 'bias' });
    expect(await trained([table, bias, { ...bias, name: 'head' }])).to.include({
      code: 'UNKNOWN_PARAMETER',
      parameter: 'head',
    });
    expect(await trained([{ ...table, shape: [8, 4] }, bias])).to.include({
      code: 'INVALID_SHAPE',
      parameter: 'table',
    });
  });

  it('tells a number of micro-batches that is none', async () => {
    const model = new Bigram(8);
    const optimizer = await fold(device, {}, model.parameters);
    for (const microbatches of [0, 1.5]) {
      const error = refusalOf(() => new Trainer({ ...settings(model), optimizer, microbatches }));
      expect(error).to.have.property('code', 'INVALID_ARGUMENT');
    }
  });

  function settings(model: TrainableModel) {
    return {
      device,
      mesh: new Mesh({ world: 1 }),
      model,
      batches: () => ({ ids: new Int32Array(2), sequences: 1, length: 2 }),
      microbatches: 1,
      schedule: () => 1,
    };
  }
});

function refusalOf(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was refused');
}
