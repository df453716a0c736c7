import { Segment } from '../autodiff/segment.ts';
import type { Glm4MoeConfig } from '../config.ts';
import * as layers from './layers.ts';

/** The parts of the model between collectives. Layers of one shape share what is compiled. */
export interface Segments {
  /** Weights [weight]; inputs [x]. */
  readonly norm: Segment;
  /** Weights: `attentionNames`; inputs [x [B, S, H]]; constants [cos, sin, mask]. */
  readonly attention: Segment;
  /** Weights [gate, up, down]; inputs [x]. */
  readonly mlp: Segment;
  /** Weights [gate]; inputs [x]. */
  readonly router: Segment;
  /** Weights [gateUp, down] of one expert; inputs [rows]. */
  readonly expert: Segment;
  /** Inputs [scores, rows]; constants [chosen]. */
  readonly combine: Segment;
  /** Weights [norm, head]; inputs [x]; constants [labels, share]. */
  readonly loss: Segment;
  /** Weights [norm, head]; inputs [x]. */
  readonly logits: Segment;
}

/** Names, after the layer's prefix, of what the attention segment takes, in its order. */
export function attentionNames({ attentionBias, qkNorm }: Glm4MoeConfig): string[] {
  return [
    ...['q_proj.weight', 'k_proj.weight', 'v_proj.weight', 'o_proj.weight'],
    ...(attentionBias ? ['q_proj.bias', 'k_proj.bias', 'v_proj.bias'] : []),
    ...(qkNorm ? ['q_norm.weight', 'k_norm.weight'] : []),
  ];
}

export function makeSegments(config: Glm4MoeConfig): Segments {
  const { rmsNormEps: eps, attentionBias, qkNorm } = config;
  return {
    norm: new Segment(([weight], [x]) => [layers.rmsNorm(x!, weight!, eps)]),
    attention: new Segment(([q, k, v, o, ...rest], [x], [cos, sin, mask]) => {
      const [qBias, kBias, vBias] = attentionBias ? rest.splice(0, 3) : [];
      const [qNorm, kNorm] = qkNorm ? rest : [];
      const weights = { q, k, v, o, qBias, kBias, vBias, qNorm, kNorm } as layers.AttentionWeights;
      return [layers.attention(x!, weights, { cos: cos!, sin: sin!, mask: mask! }, config)];
    }),
    mlp: new Segment(([gate, up, down], [x]) => [layers.swiglu(x!, gate!, up!, down!)]),
    router: new Segment(([gate], [x]) => [layers.routerScores(x!, gate!)]),
    expert: new Segment(([gateUp, down], [rows]) => [layers.expert(rows!, gateUp!, down!)]),
    combine: new Segment((_, [scores, rows], [chosen]) => [layers.combine(scores!, rows!, chosen!, config)]),
    loss: new Segment(([norm, head], [x], [labels, share]) => [
      layers.crossEntropy(layers.logits(x!, norm!, head!, eps), labels!, share!),
    ]),
    logits: new Segment(([norm, head], [x]) => [layers.logits(x!, norm!, head!, eps)]),
  };
}
