import { expect } from 'chai';
import fc from 'fast-check';
import { toJax } from '../../examples/glm4-moe/autodiff/segment.js';
import { tensor } from '../../examples/glm4-moe/autodiff/tensor.js';
import { type Glm4MoeConfig, parseConfig } from '../../examples/glm4-moe/config.js';
import { chooseExperts, oneHot } from '../../examples/glm4-moe/model/router.js';
import { makeSegments } from '../../examples/glm4-moe/model/segments.js';

function routing(experts: number, topK: number, groups = 1, topGroups = 1): Glm4MoeConfig {
  return parseConfig({
    model_type: 'glm4_moe',
    head_dim: 8,
    n_routed_experts: experts,
    num_experts_per_tok: topK,
    n_group: groups,
    topk_group: topGroups,
    routed_scaling_factor: 1.5,
  });
}

const choose = (scores: number[], bias: number[], config: Glm4MoeConfig): number[] => [
  ...chooseExperts(Float32Array.from(scores), Float32Array.from(bias), config),
];

/** The definition, word by word: everything is sorted, by value and then by index. */
function sortEverything(scores: number[], bias: number[], config: Glm4MoeConfig): number[] {
  const { experts, groups, topGroups, topK } = config;
  const best = (indices: number[], value: (i: number) => number): number[] =>
    indices.toSorted((a, b) => value(b) - value(a) || a - b);
  const size = experts / groups;
  const all = Array.from({ length: experts }, (_, e) => e);
  const chosen: number[] = [];
  for (let token = 0; token * experts < scores.length; token++) {
    const corrected = (e: number) => Math.fround(scores[token * experts + e]! + bias[e]!);
    const members = (g: number) => all.filter((e) => Math.floor(e / size) === g);
    const groupScore = (g: number) => {
      const [first, second] = best(members(g), corrected);
      return Math.fround(corrected(first!) + corrected(second ?? first!));
    };
    const open = best([...Array(groups).keys()], groupScore).slice(0, topGroups);
    const candidates = groups === 1 ? all : all.filter((e) => open.includes(Math.floor(e / size)));
    chosen.push(...best(candidates, corrected).slice(0, topK));
  }
  return chosen;
}

describe('the choice of experts', () => {
  it('is what sorting everything gives, for any groups, biases and ties', () => {
    const problem = fc
      .record({ groups: fc.integer({ min: 1, max: 4 }), size: fc.integer({ min: 2, max: 4 }) })
      .chain(({ groups, size }) =>
        fc.tuple(fc.constant({ groups, size }), fc.integer({ min: 1, max: groups })),
      )
      .chain(([{ groups, size }, topGroups]) => {
        const experts = groups * size;
        // Few different values, for ties; biases that make corrected scores negative too.
        const value = fc.integer({ min: 0, max: 8 }).map((n) => n / 8);
        const bias = fc.integer({ min: -16, max: 16 }).map((n) => n / 8);
        return fc.record({
          config: fc
            .integer({ min: 1, max: size * topGroups })
            .map((topK) => routing(experts, topK, groups, topGroups)),
          scores: fc
            .array(fc.array(value, { minLength: experts, maxLength: experts }), { maxLength: 4 })
            .map((tokens) => tokens.flat()),
          bias: fc.array(bias, { minLength: experts, maxLength: experts }),
        });
      });
    fc.assert(
      fc.property(problem, ({ config, scores, bias }) => {
        expect(choose(scores, bias, config)).to.deep.equal(sortEverything(scores, bias, config));
      }),
      { numRuns: 500 },
    );
  });

  it('is of the best, best first, and of equal ones the first', () => {
    expect(choose([0.1, 0.7, 0.3, 0.7], [0, 0, 0, 0], routing(4, 3))).to.deep.equal([1, 3, 2]);
    expect(choose([0.5, 0.5, 0.5, 0.5], [0, 0, 0, 0], routing(4, 2))).to.deep.equal([0, 1]);
  });

  it('stays within the groups whose best two are best, not within the one that has the best', () => {
    // Groups of three: 0.9 + 0.1 against 0.6 + 0.5.
    const scores = [0.9, 0.1, 0.1, 0.6, 0.5, 0.4];
    expect(choose(scores, [0, 0, 0, 0, 0, 0], routing(6, 2, 2, 1))).to.deep.equal([3, 4]);
    // Groups as good as each other: the first.
    expect(choose([0.5, 0.25, 0.5, 0.25], [0, 0, 0, 0], routing(4, 2, 2, 1))).to.deep.equal([0, 1]);
  });

  it('never leaves its groups, however bad their experts are', () => {
    const scores = [0.9, 0.9, 0.1, 0.1];
    expect(choose(scores, [-5, -5, -6, -6], routing(4, 2, 2, 1))).to.deep.equal([0, 1]);
  });

  it('follows the correction bias, and the weights do not', () => {
    const config = routing(4, 2);
    const scores = Float32Array.of(0.5, 0.25, 0.125, 0.375);
    const choices = chooseExperts(scores, Float32Array.of(-1, 0, 1, 0), config);
    expect([...choices]).to.deep.equal([2, 3]);
    // Rows of one element: expert outputs 1 and 0, then 0 and 1, give the weights themselves.
    const weightOf = (rows: number[]): number => {
      const inputs = [tensor([1, 4], scores), tensor([2, 1], Float32Array.from(rows))];
      const constants = [tensor([1, 2, 4], oneHot(choices, 4))];
      return makeSegments(config).combine.forward([], inputs, constants)[0]!.data[0]!;
    };
    // 1.5 times 1/8 and 3/8, divided by their sum 1/2.
    expect(weightOf([1, 0])).to.be.closeTo(0.375, 1e-7);
    expect(weightOf([0, 1])).to.be.closeTo(1.125, 1e-7);
  });

  it('has scores from 0 to 1 and gradients, however large the logits', () => {
    const gate = toJax(tensor([4, 1], Float32Array.of(-1e4, -1, 0, 1e4)));
    const { router } = makeSegments(routing(4, 2));
    const x = tensor([1, 1], Float32Array.of(1));
    const sigmoid = 1 / (1 + Math.E);
    const [scores] = router.forward([gate], [x], []);
    for (const [i, score] of [0, sigmoid, 0.5, 1].entries()) {
      expect(scores!.data[i]).to.be.closeTo(score, 1e-7);
    }
    const upstream = tensor([1, 4], Float32Array.of(1, 1, 1, 1));
    const [ofGate] = router.backward([gate], [x], [], [upstream]).weights;
    for (const [i, derivative] of [0, sigmoid * (1 - sigmoid), 0.25, 0].entries()) {
      expect(ofGate![i]).to.be.closeTo(derivative, 1e-7);
    }
    gate.dispose();
  });

  it('has gradients where scores are too small for FP32', () => {
    const config = routing(4, 2);
    const inputs = [tensor([1, 4], new Float32Array(4)), tensor([2, 1], Float32Array.of(1, 2))];
    const constants = [tensor([1, 2, 4], oneHot(Int32Array.of(2, 3), 4))];
    const upstream = tensor([1, 1], Float32Array.of(1));
    const [ofScores] = makeSegments(config).combine.backward([], inputs, constants, [upstream]).inputs;
    // Weights are 1.5 s / (sum + 1e-20): with all scores 0, the derivatives are 1.5e20 times the experts' outputs.
    const [, , third, fourth] = ofScores!;
    expect([...ofScores!.subarray(0, 2)]).to.deep.equal([0, 0]);
    expect(third! / 1.5e20).to.be.closeTo(1, 1e-6);
    expect(fourth! / 3e20).to.be.closeTo(1, 1e-6);
  });
});
