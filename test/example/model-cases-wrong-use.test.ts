import { expect } from 'chai';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import { FoldstepError, type FoldstepErrorCode } from '#lib/errors.js';
import { Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import { type Glm4MoeConfig, readConfig } from '../../examples/glm4-moe/config.js';
import { Glm4Moe } from '../../examples/glm4-moe/model/glm4-moe.js';
import type { Batch } from '../../examples/glm4-moe/train/model.js';
import {
  batchOf,
  expectedOf,
  folderOf,
  freshModel,
  type OpenModel,
  openModel,
  relativeError,
} from './model-cases-support.js';

const FOLDER = folderOf('glm4-moe-grouped');
const CONFIG = readConfig(`${FOLDER}/config.json`);

async function refusal(attempt: Promise<unknown>): Promise<Pick<FoldstepError, 'code' | 'message'>> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).to.be.instanceOf(FoldstepError);
  return error as FoldstepError;
}

describe('a GLM4-MoE that is used wrongly', () => {
  let device: Device;
  let opened: OpenModel;
  before(async () => {
    device = await init({ launcher: 'none' });
    opened = await openModel(device, FOLDER);
  });
  after(() => {
    opened.dispose();
    device.dispose();
  });

  const ids = (...tokens: number[]): Int32Array => Int32Array.from(tokens);
  const batches: [batch: Batch, code: FoldstepErrorCode, message: string][] = [
    [
      { ids: ids(0, 128), sequences: 1, length: 2 },
      'INVALID_ARGUMENT',
      'token 128 is not in the vocabulary of 128 (vocab_size)',
    ],
    [
      { ids: ids(-1, 0), sequences: 1, length: 2 },
      'INVALID_ARGUMENT',
      'token -1 is not in the vocabulary of 128 (vocab_size)',
    ],
    [{ ids: ids(1, 2, 3), sequences: 2, length: 2 }, 'INVALID_LENGTH', 'a batch of 2 x 2 tokens has 3 ids'],
    [
      { ids: ids(1, 2), sequences: 2, length: 1 },
      'INVALID_ARGUMENT',
      'a sequence of 1 tokens has no next one to predict',
    ],
    [
      { ids: ids(), sequences: 0, length: 2 },
      'INVALID_ARGUMENT',
      'sequences of a batch must be a whole number from 1; it is 0',
    ],
    [
      { ids: ids(1, 2, 3), sequences: 1.5, length: 2 },
      'INVALID_ARGUMENT',
      'sequences of a batch must be a whole number from 1; it is 1.5',
    ],
    [
      { ids: ids(1, 2, 3), sequences: 1, length: Number.NaN },
      'INVALID_ARGUMENT',
      'length of a batch must be a whole number from 1; it is NaN',
    ],
  ];
  for (const [batch, code, message] of batches) {
    it(`says of a batch: ${message}`, async () => {
      const { model } = opened;
      for (const attempt of [model.loss(batch), model.backward(batch, 1, () => {})]) {
        expect(await refusal(attempt)).to.include({ code, message });
      }
    });
  }

  it('names a weight that it has not, and one of another length or type', () => {
    const { model } = opened;
    expect(() => model.setWeight('lm_head.bias', new Float32Array(1)))
      .to.throw(FoldstepError, 'the model has no parameter lm_head.bias')
      .with.property('code', 'UNKNOWN_PARAMETER');
    expect(() => model.setWeight('model.norm.weight', new Float32Array(31)))
      .to.throw(FoldstepError, 'parameter model.norm.weight is [32] on this rank, 32 elements; 31 were given')
      .with.property('code', 'INVALID_LENGTH');
    const bits = new Uint16Array(32) as unknown as Float32Array;
    expect(() => model.setWeight('model.norm.weight', bits))
      .to.throw(FoldstepError, 'parameter model.norm.weight is given as FP32')
      .with.property('code', 'INVALID_DTYPE');
  });

  it('names a weight that it has not been given', async () => {
    const { model, dispose } = await freshModel(device, FOLDER);
    const batch = { ids: ids(1, 2), sequences: 1, length: 2 };
    expect(await refusal(model.backward(batch, 1, () => {}))).to.include({
      code: 'INVALID_ARGUMENT',
      message: 'parameter model.embed_tokens.weight has no weight yet; call setWeight first',
    });
    dispose();
  });

  it('says when it is disposed', async () => {
    const { model, dispose } = await openModel(device, FOLDER);
    dispose();
    dispose();
    const batch = { ids: ids(1, 2), sequences: 1, length: 2 };
    expect((await refusal(model.loss(batch))).code).to.equal('DISPOSED');
    expect(() => model.setWeight('model.norm.weight', new Float32Array(32)))
      .to.throw(FoldstepError)
      .with.property('code', 'DISPOSED');
  });

  const meshes: [sizes: MeshSizes, fields: Partial<Glm4MoeConfig>, message: string][] = [
    [{ world: 8, tp: 8 }, {}, 'num_attention_heads gives 4, which tp 8 does not divide'],
    [{ world: 4, tp: 4 }, {}, 'num_key_value_heads gives 2, which tp 4 does not divide'],
    [{ world: 2, tp: 2 }, { intermediateSize: 63 }, 'intermediate_size gives 63, which tp 2 does not divide'],
    [
      { world: 2, tp: 2 },
      { moeIntermediateSize: 15, sharedExperts: 3 },
      'moe_intermediate_size gives 45, which tp 2 does not divide',
    ],
    [{ world: 32, ep: 32 }, {}, 'n_routed_experts gives 16, which ep 32 does not divide'],
    [{ world: 2, pp: 2 }, {}, 'pp 2 divides layers over pipeline stages, which this model does not do'],
  ];
  for (const [sizes, fields, message] of meshes) {
    it(`says of a mesh: ${message}`, async () => {
      const mesh = new Mesh(sizes);
      const error = await refusal(Glm4Moe.create({ device, mesh, config: { ...CONFIG, ...fields } }));
      expect(error.message).to.include(message);
    });
  }

  it('still does what is right afterwards', async () => {
    const expected = expectedOf('glm4-moe-grouped');
    const loss = await opened.model.loss(batchOf(expected));
    expect(loss).to.be.closeTo(expected.float32('loss')[0]!, 1e-5);
  });
});

describe('a GLM4-MoE', () => {
  it('does not look ahead, and takes sequences of one token and of different lengths in turn', async () => {
    const device = await init({ launcher: 'none' });
    const { model, dispose } = await openModel(device, FOLDER);
    const { ids, length } = batchOf(expectedOf('glm4-moe-grouped'));
    const prefix = (tokens: number) =>
      model.logits({ ids: ids.slice(0, tokens), sequences: 1, length: tokens });
    const whole = await prefix(length);
    for (const tokens of [1, 2, 7, length - 1, 1]) {
      const logits = await prefix(tokens);
      expect(relativeError(logits, whole.subarray(0, logits.length)), `${tokens} tokens`).to.be.below(1e-5);
      expect(logits.length).to.equal(tokens * model.config.vocabSize);
    }
    dispose();
    device.dispose();
  });
});
