import { FoldstepError } from 'foldstep';
import * as v from 'valibot';
import { readJson } from './json-file.ts';

/** A Hugging Face `config.json` of model type `glm4_moe`, as far as the model here depends on it. */
export interface Glm4MoeConfig {
  readonly vocabSize: number;
  readonly hiddenSize: number;
  /** Of the dense layers' MLP. */
  readonly intermediateSize: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Leading elements of a head that are rotated; even. */
  readonly rotaryDim: number;
  readonly ropeTheta: number;
  readonly rmsNormEps: number;
  /** Standard deviation of fresh weights. */
  readonly initializerRange: number;
  readonly attentionBias: boolean;
  readonly qkNorm: boolean;
  /** Leading layers whose MLP is dense. */
  readonly denseLayers: number;
  /** Of one expert. */
  readonly moeIntermediateSize: number;
  readonly experts: number;
  /** Experts that a token goes to. */
  readonly topK: number;
  /** Groups that the experts are divided into, and how many of them a token may go to. */
  readonly groups: number;
  readonly topGroups: number;
  readonly sharedExperts: number;
  /** Whether a token's weights are divided by their sum. */
  readonly normalizeWeights: boolean;
  /** What its weights are then multiplied by. */
  readonly routedScaling: number;
}

const size = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const positive = v.pipe(v.number(), v.finite(), v.gtValue(0));
const none = v.optional(v.null(), null);

/** Fields that Hugging Face reads, with its defaults; what only one value works for here is a literal. */
const SCHEMA = v.looseObject({
  model_type: v.literal('glm4_moe'),
  vocab_size: v.optional(size, 151552),
  hidden_size: v.optional(size, 4096),
  intermediate_size: v.optional(size, 10944),
  num_hidden_layers: v.optional(size, 46),
  num_attention_heads: v.optional(size, 96),
  num_key_value_heads: v.optional(size, 8),
  head_dim: v.nullish(size),
  hidden_act: v.optional(v.literal('silu'), 'silu'),
  initializer_range: v.optional(positive, 0.02),
  rms_norm_eps: v.optional(positive, 1e-5),
  tie_word_embeddings: v.optional(v.literal(false), false),
  rope_parameters: v.nullish(
    v.looseObject({
      rope_type: v.optional(v.literal('default'), 'default'),
      type: v.optional(v.literal('default')),
      rope_theta: v.optional(positive),
      partial_rotary_factor: v.optional(positive),
    }),
  ),
  rope_scaling: none,
  rope_theta: v.optional(positive),
  partial_rotary_factor: v.optional(positive),
  attention_bias: v.optional(v.boolean(), false),
  attention_dropout: v.optional(v.literal(0), 0),
  moe_intermediate_size: v.optional(size, 1408),
  num_experts_per_tok: v.optional(size, 8),
  n_shared_experts: v.optional(size, 1),
  n_routed_experts: v.optional(size, 128),
  routed_scaling_factor: v.optional(positive, 1),
  n_group: v.optional(size, 1),
  topk_group: v.optional(size, 1),
  first_k_dense_replace: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 1),
  norm_topk_prob: v.optional(v.boolean(), true),
  use_qk_norm: v.optional(v.boolean(), false),
  quantization_config: none,
});

/** Reads a `config.json`. Throws INVALID_ARGUMENT, naming the file and the field that this model does not support. */
export function readConfig(file: string): Glm4MoeConfig {
  return parseConfig(readJson(file, 'is not a config.json'), file);
}

/** The same of what a `config.json` contains. `source` is named in errors. */
export function parseConfig(content: unknown, source = 'the config'): Glm4MoeConfig {
  const parsed = v.safeParse(SCHEMA, content);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw unsupported(source, v.getDotPath(issue) ?? 'its content', faultOf(issue));
  }
  const raw = parsed.output;
  const headDim = raw.head_dim ?? Math.floor(raw.hidden_size / raw.num_attention_heads);
  const factor = raw.rope_parameters?.partial_rotary_factor ?? raw.partial_rotary_factor ?? 0.5;
  const config: Glm4MoeConfig = {
    vocabSize: raw.vocab_size,
    hiddenSize: raw.hidden_size,
    intermediateSize: raw.intermediate_size,
    layers: raw.num_hidden_layers,
    heads: raw.num_attention_heads,
    kvHeads: raw.num_key_value_heads,
    headDim,
    rotaryDim: Math.floor(headDim * factor),
    ropeTheta: raw.rope_parameters?.rope_theta ?? raw.rope_theta ?? 10_000,
    rmsNormEps: raw.rms_norm_eps,
    initializerRange: raw.initializer_range,
    attentionBias: raw.attention_bias,
    qkNorm: raw.use_qk_norm,
    denseLayers: Math.min(raw.first_k_dense_replace, raw.num_hidden_layers),
    moeIntermediateSize: raw.moe_intermediate_size,
    experts: raw.n_routed_experts,
    topK: raw.num_experts_per_tok,
    groups: raw.n_group,
    topGroups: raw.topk_group,
    sharedExperts: raw.n_shared_experts,
    normalizeWeights: raw.norm_topk_prob,
    routedScaling: raw.routed_scaling_factor,
  };
  checkTogether(config, source);
  return config;
}

function faultOf({ type, expected, received }: v.BaseIssue<unknown>): string {
  if (received === 'undefined') return 'it is missing';
  const wanted = expected ?? (type === 'finite' ? 'finite' : 'a whole number');
  return `it must be ${wanted} and is ${received}`;
}

/** What fits only in combination. */
function checkTogether(config: Glm4MoeConfig, source: string): void {
  const { heads, kvHeads, headDim, rotaryDim, experts, groups, topGroups, topK } = config;
  const refuse = (field: string, why: string) => {
    throw unsupported(source, field, why);
  };
  if (heads % kvHeads !== 0) refuse('num_key_value_heads', `${kvHeads} does not divide ${heads} heads`);
  if (rotaryDim % 2 !== 0 || rotaryDim < 2 || rotaryDim > headDim) {
    refuse(
      'partial_rotary_factor',
      `with a head_dim of ${headDim} it gives ${rotaryDim} rotated elements, and must give an even number from 2 to head_dim`,
    );
  }
  if (experts % groups !== 0) refuse('n_group', `${groups} does not divide ${experts} experts`);
  if (groups > 1 && experts / groups < 2)
    refuse('n_group', 'a group is scored by its best two experts, and has one');
  if (topGroups > groups) refuse('topk_group', `${topGroups} is more than ${groups} groups`);
  const reachable = (experts / groups) * topGroups;
  if (topK > reachable)
    refuse('num_experts_per_tok', `${topK} is more than the ${reachable} experts of ${topGroups} groups`);
}

function unsupported(source: string, field: string, why: string): FoldstepError {
  return new FoldstepError('INVALID_ARGUMENT', `${source}: ${field} is not supported here: ${why}`);
}
