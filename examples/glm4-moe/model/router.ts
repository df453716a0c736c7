import type { Glm4MoeConfig } from '../config.ts';

/**
 * The experts of each token, [tokens, topK], best first, from sigmoid scores [tokens, experts] plus the correction bias:
 * of the `topGroups` groups with the largest sums of their best two, the `topK` best. Ties go to the lower index. As in
 * transformers 5, no expert of another group is chosen; versions before gave those a score of 0, above a negative one.
 */
export function chooseExperts(
  scores: Float32Array,
  bias: Float32Array,
  { experts, groups, topGroups, topK }: Glm4MoeConfig,
): Int32Array {
  const tokens = scores.length / experts;
  const choices = new Int32Array(tokens * topK);
  const corrected = new Float32Array(experts);
  for (let token = 0; token < tokens; token++) {
    for (let e = 0; e < experts; e++) corrected[e] = scores[token * experts + e]! + bias[e]!;
    if (topGroups < groups) closeGroups(corrected, groups, topGroups);
    choices.set(largest(corrected, topK), token * topK);
  }
  return choices;
}

/** [tokens, topK, experts], 1 where the choice is that expert. */
export function oneHot(choices: Int32Array, experts: number): Float32Array {
  const chosen = new Float32Array(choices.length * experts);
  for (const [i, expert] of choices.entries()) chosen[i * experts + expert] = 1;
  return chosen;
}

/** Takes the experts of all but the best groups out of the choice. */
function closeGroups(corrected: Float32Array, groups: number, topGroups: number): void {
  const size = corrected.length / groups;
  const sums = Float32Array.from({ length: groups }, (_, g) => {
    const scores = corrected.subarray(g * size, (g + 1) * size);
    const [first, second] = largest(scores, 2);
    return scores[first!]! + scores[second!]!;
  });
  const open = new Set(largest(sums, topGroups));
  for (let g = 0; g < groups; g++) {
    if (!open.has(g)) corrected.fill(Number.NEGATIVE_INFINITY, g * size, (g + 1) * size);
  }
}

/** Indices of the `count` largest values, in falling order; of equal ones the first. */
function largest(values: Float32Array, count: number): number[] {
  const indices: number[] = [];
  for (let i = 0; i < values.length; i++) {
    let at = indices.length;
    while (at > 0 && values[i]! > values[indices[at - 1]!]!) at--;
    if (at < count) {
      indices.splice(at, 0, i);
      if (indices.length > count) indices.pop();
    }
  }
  return indices;
}
