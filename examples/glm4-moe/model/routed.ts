import type { ExpertParallel, Routing } from 'foldstep/parallel';
import type { Value } from '../autodiff/tape.ts';
import { tensor } from '../autodiff/tensor.ts';
import type { Glm4MoeConfig } from '../config.ts';
import { applyExperts } from './experts.ts';
import type { Pass } from './pass.ts';
import { chooseExperts, oneHot } from './router.ts';
import type { Segments } from './segments.ts';

/** What a layer's router saw and chose, for whoever wants to watch: all tokens of this rank. */
export interface RouterDecision {
  readonly layer: number;
  /** Sigmoid scores, [tokens, experts]. */
  readonly scores: Float32Array;
  /** [tokens, topK], best first. */
  readonly choices: Int32Array;
}

export interface RoutedLayer {
  readonly layer: number;
  readonly config: Glm4MoeConfig;
  readonly segments: Segments;
  readonly experts: ExpertParallel;
  /** The experts' correction bias. */
  readonly bias: Float32Array;
  readonly observe: ((decision: RouterDecision) => void) | undefined;
}

/**
 * The routed experts on tokens x [T, H]: [T, H] on every lane. Each lane takes its own tokens through the experts, wherever
 * these are, and all lanes' results are put together.
 */
export async function routedExperts(pass: Pass, x: Value, routed: RoutedLayer): Promise<Value> {
  const { layer, config, segments, experts, bias, observe } = routed;
  const prefix = `model.layers.${layer}.mlp`;
  const [scores] = pass.apply(segments.router, [`${prefix}.gate.weight`], [x]);
  const choices = chooseExperts(scores!.data, bias, config);
  observe?.({ layer, scores: scores!.data, choices });
  const routing = await experts.route(choices, config.topK);

  const width = config.hiddenSize;
  const rows = await dispatch(pass, routing, x, width);
  const names = [`${prefix}.experts.gate_up_proj`, `${prefix}.experts.down_proj`] as const;
  const outputs = applyExperts(pass, segments.expert, names, rows, routing.rowsPerExpert);
  const own = await collect(pass, routing, outputs, width);
  return restore(pass, routing, combine(pass, routed, routing, scores!, own, choices), width);
}

async function dispatch(pass: Pass, routing: Routing, x: Value, width: number): Promise<Value> {
  const rows = await routing.dispatch(x.data, width);
  return pass.one([x], tensor([rows.length / width, width], rows), async ([gradient]) => [
    await routing.dispatchBackward(gradient!.data, width),
  ]);
}

async function collect(pass: Pass, routing: Routing, outputs: Value, width: number): Promise<Value> {
  const rows = await routing.collect(outputs.data, width);
  return pass.one([outputs], tensor([rows.length / width, width], rows), async ([gradient]) => [
    await routing.collectBackward(gradient!.data, width),
  ]);
}

async function restore(pass: Pass, routing: Routing, own: Value, width: number): Promise<Value> {
  const all = await routing.restore(own.data, width);
  return pass.one([own], tensor([routing.tokens, width], all), async ([gradient]) => [
    await routing.restoreBackward(gradient!.data, width),
  ]);
}

/** Each own token's weighted sum of its experts' outputs, [own tokens, H]. */
function combine(
  pass: Pass,
  { config, segments }: RoutedLayer,
  routing: Routing,
  scores: Value,
  rows: Value,
  choices: Int32Array,
): Value {
  const { experts, topK } = config;
  const { start, end } = routing.ownTokens;
  const ownScores = pass.one(
    [scores],
    tensor([end - start, experts], scores.data.slice(start * experts, end * experts)),
    ([gradient]) => {
      const whole = new Float32Array(scores.data.length);
      whole.set(gradient!.data, start * experts);
      return [whole];
    },
  );
  // More lanes than tokens: nothing to compute, and arrays without elements are not worth compiling for.
  if (start === end) {
    const nothing = tensor([0, rows.shape[1]!], new Float32Array());
    return pass.one([ownScores, rows], nothing, () => [new Float32Array(), new Float32Array()]);
  }
  const chosen = oneHot(choices.subarray(start * topK, end * topK), experts);
  const [own] = pass.apply(
    segments.combine,
    [],
    [ownScores, rows],
    [tensor([end - start, topK, experts], chosen)],
  );
  return own!;
}
