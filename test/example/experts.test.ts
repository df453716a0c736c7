import { expect } from 'chai';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import { Mesh } from '#lib/mesh/mesh.js';
import { Parameter } from '#lib/parameters/parameter.js';
import { tensor } from '../../examples/glm4-moe/autodiff/tensor.js';
import { applyExperts } from '../../examples/glm4-moe/model/experts.js';
import { Pass } from '../../examples/glm4-moe/model/pass.js';
import { makeSegments } from '../../examples/glm4-moe/model/segments.js';
import { Weights } from '../../examples/glm4-moe/model/weights.js';
import { relativeError } from './model-cases-support.js';
import { SMALL } from './small-training.js';

const [EXPERTS, HIDDEN, INTERMEDIATE] = [4, 3, 2];
const GATE_UP = 'gate_up';
const DOWN = 'down';
const MESH = new Mesh({ world: 1 });
const PARAMETERS = [
  new Parameter({ name: GATE_UP, shape: [EXPERTS, 2 * INTERMEDIATE, HIDDEN], family: 'expert' }, MESH),
  new Parameter({ name: DOWN, shape: [EXPERTS, HIDDEN, INTERMEDIATE], family: 'expert' }, MESH),
];

const numbers = (length: number, seed: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => Math.sin(7 * i + seed));
const gateUp = numbers(EXPERTS * 2 * INTERMEDIATE * HIDDEN, 1);
const down = numbers(EXPERTS * HIDDEN * INTERMEDIATE, 2);

/** down(silu(gate x) * up x) of one row and its gradients, from the definition, in FP64. */
function direct(expert: number, x: ArrayLike<number>, upstream: ArrayLike<number>) {
  const g = (i: number, j: number) => (expert * 2 * INTERMEDIATE + i) * HIDDEN + j;
  const d = (i: number, j: number) => (expert * HIDDEN + i) * INTERMEDIATE + j;
  const y = new Float64Array(HIDDEN);
  const ofX = new Float64Array(HIDDEN);
  const ofGateUp = new Float64Array(gateUp.length);
  const ofDown = new Float64Array(down.length);
  for (let i = 0; i < INTERMEDIATE; i++) {
    let [gate, up, ofHidden] = [0, 0, 0];
    for (let j = 0; j < HIDDEN; j++) {
      gate += gateUp[g(i, j)]! * x[j]!;
      up += gateUp[g(INTERMEDIATE + i, j)]! * x[j]!;
      ofHidden += down[d(j, i)]! * upstream[j]!;
    }
    const sigmoid = 1 / (1 + Math.exp(-gate));
    const silu = gate * sigmoid;
    const ofGate = ofHidden * up * sigmoid * (1 + gate * (1 - sigmoid));
    const ofUp = ofHidden * silu;
    for (let j = 0; j < HIDDEN; j++) {
      y[j]! += down[d(j, i)]! * silu * up;
      ofDown[d(j, i)]! += upstream[j]! * silu * up;
      ofGateUp[g(i, j)]! += ofGate * x[j]!;
      ofGateUp[g(INTERMEDIATE + i, j)]! += ofUp * x[j]!;
      ofX[j]! += ofGate * gateUp[g(i, j)]! + ofUp * gateUp[g(INTERMEDIATE + i, j)]!;
    }
  }
  return { y, ofX, ofGateUp, ofDown };
}

describe('experts on their rows', () => {
  let device: Device;
  before(async () => {
    device = await init({ launcher: 'none' });
  });
  after(() => device.dispose());

  const cases: Record<string, { rowsPerExpert: number[]; size?: number }> = {
    'one row each': { rowsPerExpert: [1, 1, 1, 1] },
    'none for some': { rowsPerExpert: [0, 9, 0, 1] },
    'many for one': { rowsPerExpert: [0, 0, 37, 0] },
    'none at all': { rowsPerExpert: [0, 0, 0, 0] },
    'gates too far from 0 for an exponential in FP32': { rowsPerExpert: [3, 0, 2, 1], size: 1000 },
  };
  for (const [name, { rowsPerExpert, size = 1 }] of Object.entries(cases)) {
    it(`give values and gradients, with ${name}`, async () => {
      const weights = new Weights(PARAMETERS);
      weights.set(GATE_UP, gateUp);
      weights.set(DOWN, down);
      const rows = rowsPerExpert.reduce((sum, count) => sum + count, 0);
      const x = numbers(rows * HIDDEN, 3).map((value) => size * value);
      const upstream = numbers(rows * HIDDEN, 4);

      const found = new Map<string, Float32Array>();
      const pass = new Pass(weights, (gradients) => {
        for (const [parameter, gradient] of gradients) found.set(parameter, gradient);
      });
      const input = pass.one([], tensor([rows, HIDDEN], x), () => []);
      const segment = makeSegments(SMALL).expert;
      const output = applyExperts(pass, segment, [GATE_UP, DOWN], input, rowsPerExpert);
      const loss = pass.one([output], tensor([1], Float32Array.of(0)), () => [upstream]);
      await pass.tape.backward(loss, 1);
      weights.dispose();

      const wanted = [output.data, x, gateUp, down].map(({ length }) => new Float32Array(length)) as [
        Float32Array,
        Float32Array,
        Float32Array,
        Float32Array,
      ];
      const ofRow = rowsPerExpert.flatMap((count, expert) => Array<number>(count).fill(expert));
      for (const [row, expert] of ofRow.entries()) {
        const at = row * HIDDEN;
        const part = direct(expert, x.subarray(at, at + HIDDEN), upstream.subarray(at, at + HIDDEN));
        wanted[0].set(part.y, at);
        wanted[1].set(part.ofX, at);
        for (const [i, value] of part.ofGateUp.entries()) wanted[2][i]! += value;
        for (const [i, value] of part.ofDown.entries()) wanted[3][i]! += value;
      }
      const got = [output.data, input.gradient.data, found.get(GATE_UP)!, found.get(DOWN)!];
      // FP32 sums of at most 37 terms.
      for (const [i, want] of wanted.entries()) expect(relativeError(got[i]!, want)).to.be.below(1e-5);
    });
  }
});
