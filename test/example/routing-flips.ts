import type { Glm4MoeConfig } from '../../examples/glm4-moe/config.js';
import { chooseExperts } from '../../examples/glm4-moe/model/router.js';

/** What the routers of all data ranks decided in one layer of one step. */
export interface Decision {
  readonly step: number;
  readonly layer: number;
  /** FP32 sigmoid scores, [tokens, experts]. */
  readonly scores: Float32Array;
  /** [tokens, topK]. */
  readonly choices: Int32Array;
}

/** A token that two runs sent to different experts, and between what they had to choose. */
export interface Flip {
  readonly step: number;
  readonly layer: number;
  readonly token: number;
  /** `groups` where the runs opened different groups of experts. */
  readonly between: 'experts' | 'groups';
  /** What the first run took and the second did not, and the other way round. */
  readonly taken: readonly [number, number];
  /** What decided, of both of `taken`, in each run: corrected scores, or sums of a group's best two. */
  readonly scores: readonly [readonly [number, number], readonly [number, number]];
  /** The most that any score of the token differs between the runs. */
  readonly difference: number;
}

/**
 * The tokens whose experts differ between two runs over the same batches, first to last; another order of the same experts
 * is no difference. Throws where a run's choices are not those that its own scores give.
 */
export function routingFlips(
  first: readonly Decision[],
  second: readonly Decision[],
  bias: (step: number, layer: number) => Float32Array,
  config: Glm4MoeConfig,
): Flip[] {
  if (first.length !== second.length) throw new Error('the runs did not decide as often');
  return first.flatMap((decision, i) => {
    const { step, layer } = decision;
    const other = second[i]!;
    if (other.step !== step || other.layer !== layer) throw new Error('the runs decided in another order');
    const corrections = bias(step, layer);
    for (const { scores, choices } of [decision, other]) {
      if (String(chooseExperts(scores, corrections, config)) === String(choices)) continue;
      throw new Error(`step ${step}, layer ${layer}: the choices do not follow from the scores`);
    }
    return flipsOf(decision, other, corrections, config);
  });
}

/** For people: what was tied, and by how much. */
export function flipText({ step, layer, token, between, taken, scores, difference }: Flip): string {
  const [first, second] = scores.map((pair) => pair.map((score) => score.toFixed(6)).join(' against '));
  return `step ${step}, layer ${layer}, token ${token}: ${between} ${taken.join(' and ')} had ${first}, then ${second}; scores differ by up to ${difference.toExponential(1)}`;
}

function flipsOf(first: Decision, second: Decision, bias: Float32Array, config: Glm4MoeConfig): Flip[] {
  const { step, layer } = first;
  const { experts, topK } = config;
  const runs = [first, second] as const;
  const tokens = Array.from({ length: first.choices.length / topK }, (_, token) => token);
  return tokens.flatMap((token) => {
    const chosen = runs.map(({ choices }) => [...choices.subarray(token * topK, (token + 1) * topK)]);
    const contested = onlyInOne(chosen);
    if (!contested) return [];
    const scores = runs.map((run) => run.scores.slice(token * experts, (token + 1) * experts));
    const difference = Math.max(...scores[0]!.map((score, e) => Math.abs(score - scores[1]![e]!)));
    const corrected = scores.map((run) => run.map((score, e) => score + bias[e]!));
    const sums = corrected.map((run) => groupSums(run, config.groups));
    const groups = onlyInOne(sums.map((run) => largest(run, config.topGroups)));
    const [between, taken, decisive] = groups
      ? (['groups', groups, sums] as const)
      : (['experts', contested, corrected] as const);
    const pairs = decisive.map((run) => [run[taken[0]]!, run[taken[1]]!] as const);
    return [{ step, layer, token, between, taken, scores: [pairs[0]!, pairs[1]!] as const, difference }];
  });
}

/** One that only the first list has and one that only the second has. */
function onlyInOne(lists: readonly (readonly number[])[]): [number, number] | undefined {
  const [a, b] = lists as [number[], number[]];
  const [onlyA, onlyB] = [a.find((value) => !b.includes(value)), b.find((value) => !a.includes(value))];
  return onlyA === undefined || onlyB === undefined ? undefined : [onlyA, onlyB];
}

function groupSums(scores: Float32Array, groups: number): number[] {
  const size = scores.length / groups;
  return Array.from({ length: groups }, (_, g) => {
    const best = [...scores.subarray(g * size, (g + 1) * size)].sort((a, b) => b - a);
    return best[0]! + (best[1] ?? 0);
  });
}

function largest(values: readonly number[], count: number): number[] {
  return [...values.keys()].sort((a, b) => values[b]! - values[a]! || a - b).slice(0, count);
}
