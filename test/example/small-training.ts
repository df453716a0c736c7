import type { Device } from '#lib/device/device.js';
import { Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import type { FoldedOptimizerOptions } from '#lib/optimizer/options.js';
import { sgd } from '#lib/update/sgd.js';
import { type Glm4MoeConfig, parseConfig } from '../../examples/glm4-moe/config.js';
import { initialValues } from '../../examples/glm4-moe/initial.js';
import { Glm4Moe } from '../../examples/glm4-moe/model/glm4-moe.js';
import { textBatches } from '../../examples/glm4-moe/train/batches.js';
import { Trainer, type TrainerOptions } from '../../examples/glm4-moe/train/trainer.js';

/** Everything the model has, small, and divisible by four lanes: grouped routing, biases, q/k norms, a dense layer. */
export const SMALL: Glm4MoeConfig = parseConfig({
  model_type: 'glm4_moe',
  vocab_size: 64,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 3,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  head_dim: 8,
  attention_bias: true,
  use_qk_norm: true,
  moe_intermediate_size: 16,
  n_routed_experts: 8,
  num_experts_per_tok: 2,
  n_group: 4,
  topk_group: 2,
  routed_scaling_factor: 1.5,
  first_k_dense_replace: 1,
});

/** Sequences of a step, and tokens of a sequence. */
export const SEQUENCES = 8;
export const LENGTH = 16;

/** Of weights and batches. */
const SEED = 6;

/** Bytes 0 to 63 in which each depends on the two before it, most of the time. */
const TEXT = Uint8Array.from(text());

export interface TrainingOptions {
  readonly mesh?: Omit<MeshSizes, 'world'>;
  readonly config?: Glm4MoeConfig;
  readonly optimizer?: Partial<FoldedOptimizerOptions>;
  readonly trainer?: Partial<Pick<TrainerOptions, 'microbatches' | 'overlap' | 'schedule'>>;
}

export interface Training {
  readonly mesh: Mesh;
  readonly model: Glm4Moe;
  readonly optimizer: FoldedOptimizer;
  readonly trainer: Trainer;
  dispose(): void;
}

/** A model with the same weights and batches whatever the mesh. */
export async function smallTraining(device: Device, options: TrainingOptions = {}): Promise<Training> {
  const { config = SMALL } = options;
  const microbatches = options.trainer?.microbatches ?? 1;
  const mesh = new Mesh({ world: device.size, ...options.mesh });
  const model = await Glm4Moe.create({ device, mesh, config });
  const stream = device.createStream();
  const optimizer = await FoldedOptimizer.create({
    device,
    mesh,
    parameters: model.parameters,
    update: sgd({ lr: 0.1 }),
    stream,
    ...options.optimizer,
  });
  // Larger than the model's own range, and no biases of zero: a fresh model's gradients are small, and its scores all alike.
  for (const [i, parameter] of optimizer.parameters.entries()) {
    const { name, logicalSize } = parameter;
    // Routers that tell experts apart: between scores that are almost equal, every rounding would decide.
    const range = name.endsWith('gate.weight') ? 0.5 : 0.1;
    const values = initialValues({ name: name.replace(/bias$/, 'weight'), logicalSize }, i, range, SEED);
    optimizer.load(parameter.name, parameter.slice(device.rank, values));
  }
  const dataRank = mesh.grid('dense').coordinate(device.rank, 'dp');
  const sizes = { sequences: SEQUENCES, length: LENGTH, dataRanks: mesh.dp, dataRank, microbatches };
  const trainer = new Trainer({
    device,
    mesh,
    model,
    optimizer,
    batches: textBatches(TEXT, sizes, SEED),
    microbatches,
    schedule: () => 0.1,
    ...options.trainer,
  });
  return {
    mesh,
    model,
    optimizer,
    trainer,
    dispose() {
      optimizer.dispose();
      model.dispose();
      stream.dispose();
    },
  };
}

/** The logical masters by name. Collective. */
export async function mastersOf(optimizer: FoldedOptimizer): Promise<Map<string, Float32Array>> {
  const masters = new Map<string, Float32Array>();
  for (const { name } of optimizer.parameters) masters.set(name, await optimizer.consolidate(name));
  return masters;
}

function* text(): Generator<number> {
  let [a, b, state] = [1, 2, 1];
  for (let i = 0; i < 4096; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const next = state >>> 29 === 0 ? state % 64 : (3 * a + 5 * b + 7) % 64;
    yield next;
    [a, b] = [b, next];
  }
}
