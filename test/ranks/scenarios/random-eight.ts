import fc from 'fast-check';
import { fromBFloat16, toBFloat16 } from '#lib/device/bfloat16.js';
import type { Device } from '#lib/device/device.js';
import { Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import type { FoldedOptimizerOptions } from '#lib/optimizer/options.js';
import { Parameter, type ParameterSpec } from '#lib/parameters/parameter.js';
import { sgd } from '#lib/update/sgd.js';

const RUNS = 40;

interface Trial {
  readonly sizes: MeshSizes;
  readonly parameters: readonly ParameterSpec[];
  readonly microbatches: number;
  readonly options: Pick<FoldedOptimizerOptions, 'zeroStage' | 'correct' | 'path'>;
}

// Dimensions that every size of mesh divides, and some that need no dividing.
const shapes = {
  whole: fc.array(fc.nat(9), { minLength: 1, maxLength: 2 }),
  cut: fc.tuple(fc.nat(2), fc.nat(2)).map(([a, b]) => [8 * a, 8 * b]),
};

const trials: fc.Arbitrary<Trial> = fc
  .record({
    tp: fc.constantFrom(1, 2, 4, 8),
    ep: fc.constantFrom(1, 2, 4),
    etp: fc.constantFrom(1, 2),
    nativeEp: fc.constantFrom(1, 2, 8),
  })
  .chain(({ tp, ep, etp, nativeEp }) =>
    fc.record({
      sizes: fc.constant({ world: 8, tp, ep, etp, native: { ep: nativeEp, etp: 1 } }),
      parameters: fc
        .array(
          fc.oneof(
            fc.record({
              family: fc.constantFrom('dense' as const, 'router' as const, 'router-partial' as const),
              shape: shapes.whole,
            }),
            fc.record({
              family: fc.constant('tensor-sharded' as const),
              shape: shapes.cut,
              partition: fc.nat(1).map((dim) => [{ axis: 'tp', dim }]),
            }),
            fc.record({
              family: fc.constantFrom('expert' as const, 'native-expert' as const),
              shape: shapes.cut,
              partition: fc.constantFrom(
                [],
                [{ axis: 'ep', dim: 0 }],
                [
                  { axis: 'ep', dim: 0 },
                  { axis: 'etp', dim: 1 },
                ],
                [{ axis: 'etp', dim: 0 }],
              ),
            }),
          ),
          { minLength: 1, maxLength: 6 },
        )
        .map((list) => list.map((spec, i) => ({ ...spec, name: `p${i}` }))),
      microbatches: fc.integer({ min: 1, max: 3 }),
      options: fc.record({
        zeroStage: fc.constantFrom(0 as const, 1 as const, 2 as const),
        correct: fc.constantFrom('microbatch' as const, 'step' as const),
        path: fc.constantFrom(
          'auto' as const,
          'direct' as const,
          'owner' as const,
          'exchange' as const,
          'library' as const,
        ),
      }),
    }),
  );

/** Axes along which ranks bring gradients of their own to one logical element. */
function contributing(parameter: Parameter): string[] {
  const { grid, laneRule } = parameter;
  return laneRule === 'average' || laneRule === 'sum' ? [grid.dataAxis, 'tp'] : [grid.dataAxis];
}

/** A rank's gradient of one logical element in one micro-batch: a BF16 number, the same on ranks that hold copies. */
function gradientOf(parameter: Parameter, rank: number, microbatch: number, element: number): number {
  const { grid, name } = parameter;
  const place = contributing(parameter).reduce((sum, axis) => 17 * sum + grid.coordinate(rank, axis) + 1, 0);
  const value = Math.sin(
    1 + element * 12.9898 + place * 78.233 + microbatch * 37.719 + name.charCodeAt(1) * 4.1,
  );
  return fromBFloat16(toBFloat16(Float32Array.of(value * 4)))[0]!;
}

/** NUMERICS' formula in FP64: the sum over the ranks that differ in a contributing axis alone, and over the micro-batches. */
function expectedElement(
  parameter: Parameter,
  mesh: Mesh,
  trial: Trial,
  rank: number,
  element: number,
): number {
  let sum = 0;
  for (const peer of parameter.grid.group(rank, contributing(parameter)).ranks()) {
    for (let m = 0; m < trial.microbatches; m++) sum += gradientOf(parameter, peer, m, element);
  }
  const lanes = parameter.laneRule === 'average' || parameter.laneRule === 'divide' ? mesh.tp : 1;
  return sum / lanes / mesh.dp;
}

/** A rank that holds a logical element, for every element of a parameter. */
function holders(parameter: Parameter, mesh: Mesh): Int32Array {
  const indices = Float64Array.from({ length: parameter.logicalSize }, (_, i) => i);
  const ranks = new Int32Array(parameter.logicalSize);
  for (let rank = 0; rank < mesh.world; rank++)
    for (const i of parameter.slice(rank, indices)) ranks[i] = rank;
  return ranks;
}

/** Random meshes, parameters and settings against the formula; the largest errors found on this rank. */
export async function againstTheFormula(device: Device) {
  const worst = { gradient: 0, norm: 0, elements: 0, trials: 0 };
  for (const trial of fc.sample(trials, { numRuns: RUNS, seed: 20_250 })) {
    const mesh = new Mesh(trial.sizes);
    using optimizer = await FoldedOptimizer.create({
      device,
      mesh,
      parameters: trial.parameters,
      update: sgd({ lr: 1 }),
      ...trial.options,
    });
    const parameters = trial.parameters.map((spec) => new Parameter(spec, mesh));
    const localIndices = parameters.map((parameter) =>
      parameter.slice(
        device.rank,
        Float64Array.from({ length: parameter.logicalSize }, (_, i) => i),
      ),
    );
    for (let m = 0; m < trial.microbatches; m++) {
      for (const [k, parameter] of parameters.entries()) {
        const values = Float32Array.from(localIndices[k]!, (i) => gradientOf(parameter, device.rank, m, i));
        optimizer.gradient(parameter.name).set(toBFloat16(values));
      }
      await optimizer.accumulate();
    }
    await optimizer.reduce();
    for (const [k, parameter] of parameters.entries()) {
      const { offset, values } = optimizer.shard(parameter.name, 'accumulated');
      for (const [i, got] of values.entries()) {
        const want = expectedElement(parameter, mesh, trial, device.rank, localIndices[k]![offset + i]!);
        worst.gradient = Math.max(worst.gradient, Math.abs(got - want));
        worst.elements += 1;
      }
    }
    let squares = 0;
    for (const parameter of parameters) {
      for (const [i, holder] of holders(parameter, mesh).entries()) {
        squares += expectedElement(parameter, mesh, trial, holder, i) ** 2;
      }
    }
    const { gradNorm } = await optimizer.step();
    worst.norm = Math.max(
      worst.norm,
      Math.abs(gradNorm - Math.sqrt(squares)) / Math.max(1, Math.sqrt(squares)),
    );
    worst.trials += 1;
  }
  return worst;
}
