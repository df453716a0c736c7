import type { ParameterSpec } from 'foldstep';
import type { Glm4MoeConfig } from './config.ts';

const COLUMN = [{ axis: 'tp', dim: 0 }] as const;
const ROW = [{ axis: 'tp', dim: 1 }] as const;
const EXPERTS = [{ axis: 'ep', dim: 0 }] as const;

/** Every trained tensor by its Hugging Face name, and how a mesh divides it, in the order of the forward pass. */
export function parametersOf(config: Glm4MoeConfig): ParameterSpec[] {
  const { vocabSize, hiddenSize, layers } = config;
  return [
    { name: 'model.embed_tokens.weight', shape: [vocabSize, hiddenSize], family: 'dense' },
    ...Array.from({ length: layers }, (_, layer) => layerParameters(config, layer)).flat(),
    { name: 'model.norm.weight', shape: [hiddenSize], family: 'dense' },
    { name: 'lm_head.weight', shape: [vocabSize, hiddenSize], family: 'dense' },
  ];
}

/** Names and shapes of what is kept beside the parameters and not trained: the experts' correction biases. */
export function buffersOf({
  layers,
  denseLayers,
  experts,
}: Glm4MoeConfig): { name: string; shape: number[] }[] {
  return Array.from({ length: layers - denseLayers }, (_, i) => ({
    name: `model.layers.${denseLayers + i}.mlp.gate.e_score_correction_bias`,
    shape: [experts],
  }));
}

function layerParameters(config: Glm4MoeConfig, layer: number): ParameterSpec[] {
  const { hiddenSize } = config;
  const prefix = `model.layers.${layer}`;
  const norm = (name: string): ParameterSpec => ({
    name: `${prefix}.${name}.weight`,
    shape: [hiddenSize],
    family: 'dense',
  });
  return [
    norm('input_layernorm'),
    ...attentionParameters(config, `${prefix}.self_attn`),
    norm('post_attention_layernorm'),
    ...(layer < config.denseLayers
      ? mlpParameters(`${prefix}.mlp`, hiddenSize, config.intermediateSize)
      : moeParameters(config, `${prefix}.mlp`)),
  ];
}

function attentionParameters(config: Glm4MoeConfig, prefix: string): ParameterSpec[] {
  const { hiddenSize, heads, kvHeads, headDim, attentionBias, qkNorm } = config;
  const projections = { q_proj: heads, k_proj: kvHeads, v_proj: kvHeads };
  const family = 'tensor-sharded';
  return [
    ...Object.entries(projections).flatMap(([name, count]): ParameterSpec[] => [
      { name: `${prefix}.${name}.weight`, shape: [count * headDim, hiddenSize], family, partition: COLUMN },
      ...(attentionBias
        ? [{ name: `${prefix}.${name}.bias`, shape: [count * headDim], family, partition: COLUMN } as const]
        : []),
    ]),
    // Replicated, but each lane applies them to its own heads: its gradient is a partial sum.
    ...(qkNorm
      ? ['q_norm', 'k_norm'].map(
          (name): ParameterSpec => ({
            name: `${prefix}.${name}.weight`,
            shape: [headDim],
            family: 'router-partial',
          }),
        )
      : []),
    { name: `${prefix}.o_proj.weight`, shape: [hiddenSize, heads * headDim], family, partition: ROW },
  ];
}

function mlpParameters(prefix: string, hidden: number, intermediate: number): ParameterSpec[] {
  const family = 'tensor-sharded';
  return [
    { name: `${prefix}.gate_proj.weight`, shape: [intermediate, hidden], family, partition: COLUMN },
    { name: `${prefix}.up_proj.weight`, shape: [intermediate, hidden], family, partition: COLUMN },
    { name: `${prefix}.down_proj.weight`, shape: [hidden, intermediate], family, partition: ROW },
  ];
}

function moeParameters(config: Glm4MoeConfig, prefix: string): ParameterSpec[] {
  const { hiddenSize, experts, moeIntermediateSize, sharedExperts } = config;
  const family = 'expert';
  return [
    { name: `${prefix}.gate.weight`, shape: [experts, hiddenSize], family: 'router' },
    {
      name: `${prefix}.experts.gate_up_proj`,
      shape: [experts, 2 * moeIntermediateSize, hiddenSize],
      family,
      partition: EXPERTS,
    },
    {
      name: `${prefix}.experts.down_proj`,
      shape: [experts, hiddenSize, moeIntermediateSize],
      family,
      partition: EXPERTS,
    },
    ...mlpParameters(`${prefix}.shared_experts`, hiddenSize, moeIntermediateSize * sharedExperts),
  ];
}
