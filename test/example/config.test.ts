import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { type Glm4MoeConfig, parseConfig, readConfig } from '../../examples/glm4-moe/config.js';
import { folderOf } from './model-cases-support.js';

/** Fits together; fields that are not here have Hugging Face's defaults. */
const FITTING = { model_type: 'glm4_moe', head_dim: 128 };

describe('config.json of a GLM4-MoE', () => {
  it('has the defaults of Hugging Face', () => {
    const defaults: Glm4MoeConfig = {
      vocabSize: 151552,
      hiddenSize: 4096,
      intermediateSize: 10944,
      layers: 46,
      heads: 96,
      kvHeads: 8,
      headDim: 128,
      rotaryDim: 64,
      ropeTheta: 10_000,
      rmsNormEps: 1e-5,
      initializerRange: 0.02,
      attentionBias: false,
      qkNorm: false,
      denseLayers: 1,
      moeIntermediateSize: 1408,
      experts: 128,
      topK: 8,
      groups: 1,
      topGroups: 1,
      sharedExperts: 1,
      normalizeWeights: true,
      routedScaling: 1,
    };
    expect(parseConfig(FITTING)).to.deep.equal(defaults);
  });

  it('is read as Hugging Face writes it', () => {
    expect(readConfig(join(folderOf('glm4-moe-grouped'), 'config.json'))).to.deep.equal({
      vocabSize: 128,
      hiddenSize: 32,
      intermediateSize: 64,
      layers: 2,
      heads: 4,
      kvHeads: 2,
      headDim: 8,
      rotaryDim: 4,
      ropeTheta: 10_000,
      rmsNormEps: 1e-5,
      initializerRange: 0.02,
      attentionBias: true,
      qkNorm: true,
      denseLayers: 1,
      moeIntermediateSize: 16,
      experts: 16,
      topK: 4,
      groups: 4,
      topGroups: 2,
      sharedExperts: 1,
      normalizeWeights: true,
      routedScaling: 1.5,
    });
  });

  it('may have the rotary fields of older versions, which newer ones go before', () => {
    const older = { ...FITTING, rope_theta: 1_000_000, partial_rotary_factor: 0.25, rope_scaling: null };
    expect(parseConfig(older)).to.include({ ropeTheta: 1_000_000, rotaryDim: 32 });
    const both = { ...older, rope_parameters: { rope_theta: 500, partial_rotary_factor: 1 } };
    expect(parseConfig(both)).to.include({ ropeTheta: 500, rotaryDim: 128 });
  });

  it('divides the hidden elements over the heads where it has no head_dim', () => {
    const sizes = { model_type: 'glm4_moe', hidden_size: 32, num_attention_heads: 4, num_key_value_heads: 4 };
    expect(parseConfig(sizes)).to.include({ headDim: 8, rotaryDim: 4 });
    expect(parseConfig({ ...sizes, head_dim: null }).headDim).to.equal(8);
  });

  it('has no more dense layers than layers', () => {
    expect(parseConfig({ ...FITTING, num_hidden_layers: 2, first_k_dense_replace: 3 }).denseLayers).to.equal(
      2,
    );
  });

  const unsupported: [fields: Record<string, unknown>, field: string, why: string][] = [
    [{ model_type: 'llama' }, 'model_type', 'it must be "glm4_moe" and is "llama"'],
    [{ model_type: undefined }, 'model_type', 'it is missing'],
    [{ hidden_act: 'GELU' }, 'hidden_act', 'it must be "silu" and is "GELU"'],
    [
      { rope_parameters: { rope_type: 'yarn' } },
      'rope_parameters.rope_type',
      'it must be "default" and is "yarn"',
    ],
    [{ rope_parameters: { type: 'yarn' } }, 'rope_parameters.type', 'it must be "default" and is "yarn"'],
    [{ rope_scaling: { type: 'linear', factor: 2 } }, 'rope_scaling', 'it must be null and is Object'],
    [{ tie_word_embeddings: true }, 'tie_word_embeddings', 'it must be false and is true'],
    [{ attention_dropout: 0.1 }, 'attention_dropout', 'it must be 0 and is 0.1'],
    [{ quantization_config: {} }, 'quantization_config', 'it must be null and is Object'],
    [{ vocab_size: 1.5 }, 'vocab_size', 'it must be a whole number and is 1.5'],
    [{ vocab_size: 0 }, 'vocab_size', 'it must be >=1 and is 0'],
    [{ hidden_size: '4096' }, 'hidden_size', 'it must be number and is "4096"'],
    [{ rms_norm_eps: Infinity }, 'rms_norm_eps', 'it must be finite and is Infinity'],
    [{ n_group: 3 }, 'n_group', '3 does not divide 128 experts'],
    [{ n_group: 128 }, 'n_group', 'a group is scored by its best two experts, and has one'],
    [{ n_group: 4, topk_group: 5 }, 'topk_group', '5 is more than 4 groups'],
    [{ n_group: 64, topk_group: 3 }, 'num_experts_per_tok', '8 is more than the 6 experts of 3 groups'],
    [{ num_key_value_heads: 7 }, 'num_key_value_heads', '7 does not divide 96 heads'],
    [
      { partial_rotary_factor: 2 },
      'partial_rotary_factor',
      'with a head_dim of 128 it gives 256 rotated elements, and must give an even number from 2 to head_dim',
    ],
    [
      { head_dim: 6 },
      'partial_rotary_factor',
      'with a head_dim of 6 it gives 3 rotated elements, and must give an even number from 2 to head_dim',
    ],
    [
      { partial_rotary_factor: 0.001 },
      'partial_rotary_factor',
      'with a head_dim of 128 it gives 0 rotated elements, and must give an even number from 2 to head_dim',
    ],
  ];
  for (const [fields, field, why] of unsupported) {
    it(`names a field that is not supported: ${field}, ${why}`, () => {
      expect(() => parseConfig({ ...FITTING, ...fields }, 'a.json'))
        .to.throw(FoldstepError, `a.json: ${field} is not supported here: ${why}`)
        .with.property('code', 'INVALID_ARGUMENT');
    });
  }

  for (const content of [null, 3, 'glm4_moe']) {
    it(`is an object, and not ${JSON.stringify(content)}`, () => {
      expect(() => parseConfig(content)).to.throw(FoldstepError, 'it must be Object');
    });
  }

  it('is named where it cannot be read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'foldstep-test-'));
    const file = join(folder, 'config.json');
    expect(() => readConfig(file))
      .to.throw(FoldstepError, `${file} is not a config.json`)
      .with.property('code', 'INVALID_ARGUMENT');
    writeFileSync(file, '{"model_type": "glm4_moe",');
    expect(() => readConfig(file)).to.throw(FoldstepError, `${file} is not a config.json`);
    rmSync(folder, { recursive: true });
  });
});
