import { expect } from 'chai';
import { Mesh } from '#lib/mesh/mesh.js';
import { Parameter } from '#lib/parameters/parameter.js';
import { SafetensorsFile } from '#lib/safetensors/file.js';
import { parseConfig, readConfig } from '../../examples/glm4-moe/config.js';
import { initialValues } from '../../examples/glm4-moe/initial.js';
import { buffersOf, parametersOf } from '../../examples/glm4-moe/parameters.js';
import { folderOf, MODEL_CASES } from './model-cases-support.js';
import { SMALL } from './small-training.js';

describe('the parameters of a GLM4-MoE', () => {
  for (const name of MODEL_CASES) {
    it(`are, with the buffers, the tensors of Hugging Face, by name and shape: ${name}`, () => {
      const file = new SafetensorsFile(`${folderOf(name)}/model.safetensors`);
      const config = readConfig(`${folderOf(name)}/config.json`);
      const ours = [...parametersOf(config), ...buffersOf(config)].map((tensor) => [
        tensor.name,
        tensor.shape,
      ]);
      const theirs = [...file.tensors].map(([tensor, { shape }]) => [tensor, shape]);
      expect(Object.fromEntries(ours)).to.deep.equal(Object.fromEntries(theirs));
      expect(ours).to.have.length(theirs.length);
    });
  }

  it('have the shapes of GLM-4.5-Air, 106,852,245,504 elements in all', () => {
    // As its config.json says: 46 layers of 96 heads of 128, 128 experts of 1408; a bias on q, k and v, no q/k norms.
    const config = parseConfig({
      model_type: 'glm4_moe',
      head_dim: 128,
      attention_bias: true,
      rope_theta: 1_000_000,
      partial_rotary_factor: 0.5,
      rope_scaling: null,
    });
    const elements = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);
    const embeddings = 2 * 151552 * 4096;
    const attention = 4096 * 128 * (96 + 8 + 8 + 96) + 128 * (96 + 8 + 8);
    const dense = 3 * 4096 * 10944;
    const routed = 4096 * 128 + (128 + 1) * 3 * 4096 * 1408;
    const norms = 46 * 2 * 4096 + 4096;
    const total = embeddings + 46 * attention + dense + 45 * routed + norms;
    expect(total).to.equal(106_852_245_504);
    expect(parametersOf(config).reduce((sum, { shape }) => sum + elements(shape), 0)).to.equal(total);
  });

  it('are cut over lanes and expert owners into equal parts that make up the whole', () => {
    const mesh = new Mesh({ world: 4, tp: 2, ep: 4 });
    for (const spec of parametersOf(SMALL)) {
      const parameter = new Parameter(spec, mesh);
      const parts = { 'tensor-sharded': 2, expert: 4 }[spec.family as string] ?? 1;
      expect(parameter.localSize * parts, spec.name).to.equal(parameter.logicalSize);
    }
  });

  it('have a family for how the lanes hold their gradients', () => {
    const families = Object.fromEntries(
      parametersOf(SMALL).map(({ name, family }) => [name.replace(/^model\.layers\.\d+\./, ''), family]),
    );
    expect(families).to.include({
      'model.embed_tokens.weight': 'dense',
      'input_layernorm.weight': 'dense',
      'self_attn.q_proj.bias': 'tensor-sharded',
      'self_attn.q_norm.weight': 'router-partial',
      'self_attn.o_proj.weight': 'tensor-sharded',
      'mlp.down_proj.weight': 'tensor-sharded',
      'mlp.gate.weight': 'router',
      'mlp.experts.gate_up_proj': 'expert',
      'mlp.shared_experts.up_proj.weight': 'tensor-sharded',
      'lm_head.weight': 'dense',
    });
  });
});

describe('fresh weights', () => {
  const fresh = (name: string, logicalSize: number, index = 0, seed = 1) =>
    initialValues({ name, logicalSize }, index, 0.02, seed);

  it('are 1 for norms and 0 for biases', () => {
    for (const name of ['model.norm.weight', 'model.layers.0.self_attn.q_norm.weight']) {
      expect([...fresh(name, 3)], name).to.deep.equal([1, 1, 1]);
    }
    expect([...fresh('model.layers.0.self_attn.q_proj.bias', 3)]).to.deep.equal([0, 0, 0]);
  });

  it('are normal with the standard deviation of the config', () => {
    const n = 20_000;
    const values = fresh('lm_head.weight', n).map((value) => value / 0.02);
    const moment = (power: number) => values.reduce((sum, value) => sum + value ** power, 0) / n;
    // Standard errors of these means are sqrt(Var / n): 0.007, 0.01 and 0.07; four of them.
    expect(moment(1)).to.be.closeTo(0, 0.03);
    expect(moment(2)).to.be.closeTo(1, 0.04);
    expect(moment(4)).to.be.closeTo(3, 0.28);
  });

  it('depend on the parameter and the seed, and on nothing else', () => {
    const values = [...fresh('lm_head.weight', 4)];
    expect([...fresh('lm_head.weight', 4)]).to.deep.equal(values);
    expect([...fresh('lm_head.weight', 4, 1)]).to.not.deep.equal(values);
    expect([...fresh('lm_head.weight', 4, 0, 2)]).to.not.deep.equal(values);
  });
});
