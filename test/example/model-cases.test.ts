import { expect } from 'chai';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import { job, type Outcome, values } from '../support/job.js';
import type { FoldedCase } from './model-cases-folded.js';
import {
  batchOf,
  expectedOf,
  folderOf,
  gradientsOf,
  MODEL_CASES,
  type ModelCase,
  openModel,
  relativeError,
  worst,
} from './model-cases-support.js';

// Expected values are Hugging Face's in FP64; ours are FP32. Measured: losses to 1e-6, logits to 3.4e-7, gradients to 1.2e-6.
const LOSS = 1e-5;
const TENSOR = 1e-4;

describe('a whole Hugging Face GLM4-MoE on one rank', () => {
  let device: Device;
  before(async () => {
    device = await init({ launcher: 'none' });
  });
  after(() => device.dispose());

  for (const name of MODEL_CASES) {
    describe(name, () => {
      const expected = expectedOf(name);

      it('gives the loss and every gradient', async () => {
        const opened = await openModel(device, folderOf(name));
        const { loss, gradients } = await gradientsOf(opened, batchOf(expected));
        expect(loss).to.be.closeTo(expected.float32('loss')[0]!, LOSS);
        const wanted = [...expected.tensors.keys()].filter((key) => key.startsWith('grad/'));
        expect([...gradients.keys()].map((key) => `grad/${key}`)).to.have.members(wanted);
        for (const [parameter, got] of gradients) {
          const error = relativeError(got, expected.float32(`grad/${parameter}`));
          expect(error, parameter).to.be.at.most(TENSOR);
        }
        opened.dispose();
      });

      it('gives the logits, and the loss without a gradient', async () => {
        const { model, dispose } = await openModel(device, folderOf(name));
        const batch = batchOf(expected);
        expect(relativeError(await model.logits(batch), expected.float32('logits'))).to.be.at.most(TENSOR);
        expect(await model.loss(batch)).to.be.closeTo(expected.float32('loss')[0]!, LOSS);
        dispose();
      });
    });
  }
});

describe('a whole Hugging Face GLM4-MoE, folded', () => {
  const jobs = {} as Record<'two' | 'four', Record<string, Outcome[]>>;
  before(async () => {
    jobs.two = await job(2, 'example/model-cases-two');
    jobs.four = await job(4, 'example/model-cases-four');
  });

  const meshes = [
    ['two', 'tp2ep2'],
    ['two', 'tp1ep2'],
    ['four', 'tp2ep2'],
    ['four', 'tp2ep4'],
  ] as const;
  for (const [ranks, mesh] of meshes) {
    for (const name of MODEL_CASES) {
      it(`gives the mean loss and every reduced gradient: ${name} on ${ranks} ranks, ${mesh}`, () => {
        const results = values<Record<ModelCase, FoldedCase>>(jobs[ranks][mesh]).map((found) => found[name]);
        const losses = results.map(({ loss }) => loss);
        // Tensor lanes hold the same loss: the mean over all ranks is that over data ranks.
        const mean = losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
        expect(mean).to.be.closeTo(expectedOf(name).float32('loss')[0]!, LOSS);
        for (const { errors } of results)
          expect(worst(errors).error, worst(errors).name).to.be.at.most(TENSOR);
      });
    }
  }
});
