import { type JaxArray, nn, np } from '../autodiff/jax.ts';
import type { Glm4MoeConfig } from '../config.ts';

// Shapes: B sequences of S tokens, H hidden elements, T = B * S tokens, V vocabulary. Weights are [out, in]. A lane's
// heads and intermediate elements are a part of the model's: sizes come from the arrays themselves.

/** x * weight / rms(x), over the last dimension. */
export function rmsNorm(x: JaxArray, weight: JaxArray, eps: number): JaxArray {
  const variance = np.mean(x.ref.mul(x.ref), -1, { keepdims: true });
  return x.mul(np.reciprocal(np.sqrt(variance.add(eps)))).mul(weight);
}

/** x [.., in] times the transpose of weight [out, in], plus bias [out]. */
export function linear(x: JaxArray, weight: JaxArray, bias?: JaxArray): JaxArray {
  const y = np.matmul(x, weight.transpose([1, 0]));
  return bias ? y.add(bias) : y;
}

/**
 * 1 / (1 + exp(-x)). Below -87, where FP32 holds its value only as a subnormal number or as 0, it is taken as constant: `nn.sigmoid`
 * lets the exponential overflow there, and its gradient is no number.
 */
function sigmoid(x: JaxArray): JaxArray {
  return np.reciprocal(np.exp(np.maximum(x, -87).mul(-1)).add(1));
}

/** down(silu(gate(x)) * up(x)). */
export function swiglu(x: JaxArray, gate: JaxArray, up: JaxArray, down: JaxArray): JaxArray {
  const gated = linear(x.ref, gate);
  const opened = gated.ref.mul(sigmoid(gated));
  return linear(opened.mul(linear(x, up)), down);
}

/** An expert's MLP: gateUp is [2 * intermediate, H], the gate's rows first. */
export function expert(x: JaxArray, gateUp: JaxArray, down: JaxArray): JaxArray {
  const half = gateUp.shape[0]! / 2;
  return swiglu(x, gateUp.ref.slice([0, half]), gateUp.slice([half]), down);
}

export interface AttentionWeights {
  readonly q: JaxArray;
  readonly k: JaxArray;
  readonly v: JaxArray;
  readonly o: JaxArray;
  readonly qBias?: JaxArray;
  readonly kBias?: JaxArray;
  readonly vBias?: JaxArray;
  readonly qNorm?: JaxArray;
  readonly kNorm?: JaxArray;
}

/** Angles of the rotary embedding, [S, rotaryDim / 2] each, and what is added to the scores, [S, S]. */
export interface Positions {
  readonly cos: JaxArray;
  readonly sin: JaxArray;
  readonly mask: JaxArray;
}

/**
 * Causal grouped-query attention of normed x [B, S, H] with this lane's heads, up to the output projection: a partial sum
 * over the lanes.
 */
export function attention(
  x: JaxArray,
  w: AttentionWeights,
  { cos, sin, mask }: Positions,
  { headDim, rmsNormEps }: Glm4MoeConfig,
): JaxArray {
  const [sequences, length] = x.shape as [number, number, number];
  const heads = (y: JaxArray, norm?: JaxArray): JaxArray => {
    const split = y.reshape([sequences, length, -1, headDim]);
    return (norm ? rmsNorm(split, norm, rmsNormEps) : split).transpose([0, 2, 1, 3]);
  };
  const q = rotate(heads(linear(x.ref, w.q, w.qBias), w.qNorm), cos.ref, sin.ref);
  const k = rotate(heads(linear(x.ref, w.k, w.kBias), w.kNorm), cos, sin);
  const v = heads(linear(x, w.v, w.vBias));

  // Query heads that share a key head form a group, one more dimension.
  const kvHeads = k.shape[1]!;
  const group = q.shape[1]! / kvHeads;
  const grouped = q.reshape([sequences, kvHeads, group * length, headDim]);
  const scores = np.matmul(grouped, k.transpose([0, 1, 3, 2])).mul(headDim ** -0.5);
  const masked = scores.reshape([sequences, kvHeads, group, length, length]).add(mask);
  const weights = nn.softmax(masked, -1).reshape([sequences, kvHeads, group * length, length]);
  const mixed = np
    .matmul(weights, v)
    .reshape([sequences, kvHeads * group, length, headDim])
    .transpose([0, 2, 1, 3])
    .reshape([sequences, length, -1]);
  return linear(mixed, w.o);
}

/** Rotates pairs (i, i + rotaryDim / 2) of the leading elements of each head; x is [B, heads, S, headDim]. */
function rotate(x: JaxArray, cos: JaxArray, sin: JaxArray): JaxArray {
  const half = cos.shape[1]!;
  const first = x.ref.slice([], [], [], [0, half]);
  const second = x.ref.slice([], [], [], [half, 2 * half]);
  const parts = [first.ref.mul(cos.ref).sub(second.ref.mul(sin.ref)), second.mul(cos).add(first.mul(sin))];
  if (2 * half < x.shape[3]!) parts.push(x.slice([], [], [], [2 * half]));
  else x.dispose();
  return np.concatenate(parts, 3);
}

/** Sigmoid scores [T, experts] of tokens [T, H]. */
export function routerScores(x: JaxArray, gate: JaxArray): JaxArray {
  return sigmoid(linear(x, gate));
}

/**
 * Sum over each token's choices of weight times expert output. `scores` [T, experts]; `chosen` one-hot [T, topK, experts];
 * `rows` [T * topK, H].
 */
export function combine(
  scores: JaxArray,
  rows: JaxArray,
  chosen: JaxArray,
  { normalizeWeights, routedScaling }: Glm4MoeConfig,
): JaxArray {
  const [tokens, topK] = chosen.shape as [number, number, number];
  const picked = chosen.mul(scores.reshape([tokens, 1, -1])).sum(-1);
  const weights = normalizeWeights ? shares(picked) : picked;
  const scaled = weights.mul(routedScaling).reshape([tokens, topK, 1]);
  return rows.reshape([tokens, topK, -1]).mul(scaled).sum(1);
}

/**
 * Values divided by their sum, and by 1e-20 where they have none. Both are made larger first, exactly: the derivative of a
 * reciprocal is its square, which for sums near 1e-20 FP32 does not hold.
 */
function shares(values: JaxArray): JaxArray {
  const larger = values.mul(2 ** 32);
  return larger.ref.div(larger.sum(-1, { keepdims: true }).add(2 ** 32 * 1e-20));
}

/** Logits [T, V] of x [T, H]. */
export function logits(x: JaxArray, norm: JaxArray, head: JaxArray, eps: number): JaxArray {
  return linear(rmsNorm(x, norm, eps), head);
}

/** Sum over tokens of share [T] times the cross-entropy of values [T, V]; labels [T] are int32. */
export function crossEntropy(values: JaxArray, labels: JaxArray, share: JaxArray): JaxArray {
  const target = nn.oneHot(labels, values.shape[1]!);
  const losses = nn.logSoftmax(values, -1).mul(target).sum(-1);
  return losses.mul(share).sum().mul(-1);
}
