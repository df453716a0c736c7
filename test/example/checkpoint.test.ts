import { existsSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { toBFloat16 } from '#lib/device/bfloat16.js';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import { FoldstepError } from '#lib/errors.js';
import type { Tensor } from '#lib/safetensors/write.js';
import { hasWeights, loadWeights, saveWeights } from '../../examples/glm4-moe/checkpoint.js';
import { bits32 } from '../support/fold.js';
import { job, values } from '../support/job.js';
import { byExpert, ORIGINAL, originalTensors, withFolder, writeWeights } from './checkpoint-support.js';
import { freshModel, logicalOf, type OpenModel, openModel } from './model-cases-support.js';

const BIAS = 'model.layers.1.mlp.gate.e_score_correction_bias';
const GATE_UP = 'model.layers.1.mlp.experts.gate_up_proj';
const NORM = 'model.norm.weight';

describe('weights of a GLM4-MoE in files', () => {
  let device: Device;
  before(async () => {
    device = await init({ launcher: 'none' });
  });
  after(() => device.dispose());

  /** The bits of everything that a model and its optimizer hold. */
  async function contentOf({ model, optimizer }: OpenModel): Promise<Record<string, string>> {
    const all = [...(await logicalOf(optimizer, 'master')), ...model.buffers];
    return Object.fromEntries(all.map(([name, tensor]) => [name, bits32(tensor).join()]));
  }

  const bitsOf = (tensors: ReadonlyMap<string, Tensor>): Record<string, string> =>
    Object.fromEntries(
      [...tensors].map(([name, tensor]) => [name, bits32(tensor.values as Float32Array).join()]),
    );

  async function loaded(folder: string): Promise<Record<string, string>> {
    const opened = await openModel(device, folder);
    const content = await contentOf(opened);
    opened.dispose();
    return content;
  }

  it('load as they are, the correction biases too', async () => {
    expect(await loaded(ORIGINAL)).to.deep.equal(bitsOf(originalTensors()));
  });

  it('come through four ranks, from loading to saving, bit for bit, with the config', async () => {
    await withFolder(async (folder) => {
      const target = join(folder, 'new');
      const outcomes = await job(4, 'example/checkpoint-four', { FOLDSTEP_TEST_FOLDER: target });
      values(outcomes['saves']);
      expect(await loaded(target)).to.deep.equal(bitsOf(originalTensors()));
      const config = (of: string) => readFileSync(join(of, 'config.json'), 'utf8');
      expect(config(target)).to.equal(config(ORIGINAL));
    });
  });

  it('save over those that they were loaded from', async () => {
    await withFolder(async (folder) => {
      writeWeights(folder, originalTensors());
      const opened = await openModel(device, folder);
      opened.model.buffers.get(BIAS)!.fill(3);
      await saveWeights(folder, folder, opened.model, opened.optimizer, device);
      opened.dispose();
      const expected = originalTensors();
      expected.set(BIAS, { shape: [16], values: new Float32Array(16).fill(3) });
      expect(await loaded(folder)).to.deep.equal(bitsOf(expected));
    });
  });

  it('load with a tensor for each projection of each expert, as Hugging Face writes them', async () => {
    await withFolder(async (folder) => {
      writeWeights(folder, byExpert(originalTensors()));
      expect(await loaded(folder)).to.deep.equal(bitsOf(originalTensors()));
    });
  });

  it('load from several files that an index lists', async () => {
    await withFolder(async (folder) => {
      const tensors = [...byExpert(originalTensors())];
      const files = ['model-1.safetensors', 'model-2.safetensors'];
      for (const [half, file] of files.entries()) {
        writeWeights(
          folder,
          tensors.filter((_, i) => i % 2 === half),
        );
        renameSync(join(folder, 'model.safetensors'), join(folder, file));
      }
      const map = Object.fromEntries(tensors.map(([name], i) => [name, files[i % 2]!]));
      // Fresh weights beside these cannot be meant.
      expect(() => hasWeights(folder)).to.throw(
        FoldstepError,
        /neither model.safetensors nor model.safetensors.index/,
      );
      writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map: map }));
      expect(hasWeights(folder)).to.equal(true);
      expect(await loaded(folder)).to.deep.equal(bitsOf(originalTensors()));
    });
  });

  it('come from the files that an index names, whatever others hold, until they are saved', async () => {
    await withFolder(async (folder) => {
      const tensors = [...originalTensors()];
      const index = join(folder, 'model.safetensors.index.json');
      const files = ['model-1.safetensors', 'model-2.safetensors'];
      // Each half, and beside it in every file the other half as it must not be.
      const wrong = ([name, { shape, values: of }]: (typeof tensors)[number]) =>
        [name, { shape, values: of.map(() => 7) }] as const;
      for (const [half, file] of files.entries()) {
        writeWeights(
          folder,
          tensors.map((tensor, i) => (i % 2 === half ? tensor : wrong(tensor))),
        );
        renameSync(join(folder, 'model.safetensors'), join(folder, file));
      }
      writeWeights(folder, tensors.map(wrong));
      const map = Object.fromEntries(tensors.map(([name], i) => [name, files[i % 2]!]));
      writeFileSync(index, JSON.stringify({ weight_map: map }));
      const opened = await openModel(device, folder);
      expect(await contentOf(opened)).to.deep.equal(bitsOf(new Map(tensors)));
      opened.model.buffers.get(BIAS)!.fill(3);
      await saveWeights(folder, folder, opened.model, opened.optimizer, device);
      opened.dispose();
      expect(existsSync(index)).to.equal(false);
      const expected = originalTensors();
      expected.set(BIAS, { shape: [16], values: new Float32Array(16).fill(3) });
      expect(await loaded(folder)).to.deep.equal(bitsOf(expected));
    });
  });

  it('load from BF16, which FP32 holds', async () => {
    await withFolder(async (folder) => {
      // Every BF16 number is the upper half of an FP32 one.
      const upper = [...originalTensors()].map(([name, { shape, values: of }]) => {
        const bits = new Uint32Array((of as Float32Array).slice().buffer).map((word) => word & 0xffff0000);
        return [name, { shape, values: new Float32Array(bits.buffer) }] as const;
      });
      writeWeights(
        folder,
        upper.map(([name, { shape, values: of }]) => [name, { shape, values: toBFloat16(of) }]),
      );
      expect(await loaded(folder)).to.deep.equal(bitsOf(new Map(upper)));
    });
  });

  it('may have a layer behind the last that predicts further tokens', async () => {
    await withFolder(async (folder) => {
      const further: Tensor = { shape: [1], values: Float32Array.of(1) };
      writeWeights(folder, [
        ...originalTensors(),
        ['model.layers.2.eh_proj.weight', further],
        ['model.layers.2.enorm.weight', further],
      ]);
      expect(await loaded(folder)).to.deep.equal(bitsOf(originalTensors()));
    });
  });

  describe('that do not fit', () => {
    /** That loading is refused, and changes nothing. */
    async function refused(
      tensors: Iterable<readonly [string, Tensor]>,
      code: string,
      text: string,
      fields: Record<string, unknown> = {},
    ): Promise<void> {
      await withFolder(async (folder) => {
        writeWeights(folder, tensors);
        await refusedFrom(folder, code, text);
      }, fields);
    }

    async function refusedFrom(folder: string, code: string, text: string): Promise<void> {
      const opened = await freshModel(device, folder);
      const before = await contentOf(opened);
      expect(() => loadWeights(folder, opened.model, opened.optimizer, device))
        .to.throw(FoldstepError, text)
        .with.property('code', code);
      expect(await contentOf(opened)).to.deep.equal(before);
      opened.dispose();
    }

    const changed = (name: string, tensor: Tensor | undefined, from = originalTensors()) => {
      if (tensor) from.set(name, tensor);
      else from.delete(name);
      return from;
    };

    it('are told by a tensor of another shape', () =>
      refused(
        changed(NORM, { shape: [8, 4], values: new Float32Array(32) }),
        'INVALID_SHAPE',
        `${NORM} is [8, 4] in `,
      ));

    it('are told by a tensor that is missing', async () => {
      await refused(changed(NORM, undefined), 'UNKNOWN_PARAMETER', `has no tensor ${NORM}`);
      await refused(changed(BIAS, undefined), 'UNKNOWN_PARAMETER', `has no tensor ${BIAS}`);
      await refused(changed(GATE_UP, undefined), 'UNKNOWN_PARAMETER', `has no tensor ${GATE_UP}`);
    });

    it('are told by one expert that is missing, or of another shape', async () => {
      const name = 'model.layers.1.mlp.experts.5.up_proj.weight';
      const parts = () => byExpert(originalTensors());
      await refused(changed(name, undefined, parts()), 'UNKNOWN_PARAMETER', `has no tensor ${name}`);
      const turned = { shape: [32, 16], values: new Float32Array(512) };
      await refused(changed(name, turned, parts()), 'INVALID_SHAPE', `${name} is [32, 16] in `);
    });

    it('are told by a tensor that the model has not', async () => {
      const more: Tensor = { shape: [1], values: Float32Array.of(1) };
      await refused(
        changed('lm_head.bias', more),
        'UNKNOWN_PARAMETER',
        'has lm_head.bias, which the model has not',
      );
      const expert = 'model.layers.1.mlp.experts.0.down_proj.weight';
      await refused(changed(expert, more), 'UNKNOWN_PARAMETER', `has ${expert}, which the model has not`);
    });

    it('are told by a dtype that is not read', () =>
      refused(
        changed(NORM, { shape: [32], values: new Int32Array(32) }),
        'INVALID_DTYPE',
        `${NORM} is I32 in `,
      ));

    it('are told by a value that is not finite', async () => {
      const norm = new Float32Array(32).fill(1);
      norm[7] = Number.NaN;
      await refused(changed(NORM, { shape: [32], values: norm }), 'INVALID_ARGUMENT', `${NORM} in `);
      const biases = new Float32Array(16);
      biases[3] = Number.POSITIVE_INFINITY;
      await refused(
        changed(BIAS, { shape: [16], values: biases }),
        'INVALID_ARGUMENT',
        'Infinity at element 3',
      );
    });

    it('are told where the config is of another model', async () => {
      await refused(originalTensors(), 'INVALID_SHAPE', 'model.embed_tokens.weight is [128, 32]', {
        vocab_size: 64,
      });
      await refused(originalTensors(), 'UNKNOWN_PARAMETER', 'model.layers.2.', { num_hidden_layers: 3 });
      await refused(originalTensors(), 'UNKNOWN_PARAMETER', 'has model.layers.1.', { num_hidden_layers: 1 });
      await refused(originalTensors(), 'UNKNOWN_PARAMETER', 'self_attn.k_norm.weight', {
        use_qk_norm: false,
      });
      await refused(byExpert(originalTensors()), 'INVALID_SHAPE', 'mlp.gate.weight is [16, 32]', {
        n_routed_experts: 8,
      });
    });

    it('are told where there are none, and where an index is none', () =>
      withFolder(async (folder) => {
        await refusedFrom(folder, 'FILE_UNREADABLE', join(folder, 'model.safetensors'));
        const index = join(folder, 'model.safetensors.index.json');
        writeFileSync(index, '{');
        await refusedFrom(folder, 'INVALID_ARGUMENT', `${index} cannot be read`);
        writeFileSync(index, '{"weight_map": {"a": 1}}');
        await refusedFrom(folder, 'INVALID_ARGUMENT', `${index} has no weight_map`);
        writeFileSync(index, '{"weight_map": {"a": "../model.safetensors"}}');
        await refusedFrom(
          folder,
          'INVALID_ARGUMENT',
          'names ../model.safetensors, which is no file beside it',
        );
        writeWeights(folder, originalTensors());
        writeFileSync(index, '{"weight_map": {"a\\u001b": "model.safetensors"}}');
        await refusedFrom(
          folder,
          'UNKNOWN_PARAMETER',
          'says that model.safetensors has tensor a\\u{001b}, which it has not',
        );
        truncateSync(index, 2 ** 40);
        await refusedFrom(folder, 'INVALID_ARGUMENT', `${index} cannot be read: it has 1099511627776 bytes`);
      }));
  });

  it('are not saved where no folder can be', async () => {
    const opened = await openModel(device, ORIGINAL);
    await withFolder(async (folder) => {
      const file = join(folder, 'config.json');
      const saved = saveWeights(file, ORIGINAL, opened.model, opened.optimizer, device);
      const error = await saved.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(FoldstepError).with.property('code', 'FILE_UNWRITABLE');
    });
    opened.dispose();
  });
});
