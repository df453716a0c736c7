import fc from 'fast-check';
import { Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import {
  type Cut,
  FAMILY_NAMES,
  type Family,
  Parameter,
  type ParameterSpec,
} from '#lib/parameters/parameter.js';
import { meshSizes } from '../mesh/support.js';

export { refusal } from '../mesh/support.js';

/** Which axes each family allows, written out by hand so that the library's table is not its own judge. */
const CUTS: Record<Family, readonly (readonly string[])[]> = {
  dense: [[]],
  router: [[]],
  'router-partial': [[]],
  'sequence-norm': [[]],
  'tensor-sharded': [['tp']],
  expert: [[], ['ep'], ['etp'], ['ep', 'etp'], ['etp', 'ep']],
  'native-expert': [[], ['ep'], ['etp'], ['ep', 'etp'], ['etp', 'ep']],
};

function axisSize(mesh: Mesh, family: Family, axis: string): number {
  const grid = family === 'expert' ? 'expert' : family === 'native-expert' ? 'native-expert' : 'dense';
  return mesh.grid(grid).size(axis);
}

/** A spec that fits: every cut dimension is a multiple (0 to 6) of what cuts it. */
export function specs(mesh: Mesh, name: string): fc.Arbitrary<ParameterSpec> {
  return fc.constantFrom(...FAMILY_NAMES).chain((family) =>
    fc.constantFrom(...CUTS[family]).chain((axes) =>
      fc
        .record({
          factors: fc.array(fc.integer({ min: 0, max: 3 }), {
            minLength: axes.length > 0 ? 1 : 0,
            maxLength: 3,
          }),
          dims: fc.tuple(fc.nat(), fc.nat()),
        })
        .map(({ factors, dims }) => {
          const shape = [...factors];
          const partition: Cut[] = axes.map((axis, i) => ({ axis, dim: dims[i]! % shape.length }));
          for (const { axis, dim } of partition) shape[dim]! *= axisSize(mesh, family, axis);
          return { name, shape, family, partition };
        }),
    ),
  );
}

export interface Scene {
  readonly sizes: MeshSizes;
  readonly mesh: Mesh;
  readonly parameters: readonly Parameter[];
}

/** A mesh with one to four parameters that fit it. */
export function scenes(largestStage = 16): fc.Arbitrary<Scene> {
  return meshSizes(largestStage).chain((sizes) => {
    const mesh = new Mesh(sizes);
    const some = ['a', 'b', 'c', 'd'].map((name) => specs(mesh, name));
    return fc
      .tuple(fc.tuple(some[0]!, some[1]!, some[2]!, some[3]!), fc.integer({ min: 1, max: 4 }), fc.boolean())
      .map(([all, count, sequenceParallel]) => ({
        sizes,
        mesh,
        parameters: all.slice(0, count).map((spec) => new Parameter(spec, mesh, { sequenceParallel })),
      }));
  });
}

/** Flat row-major index in the logical tensor of every element of a rank's part, in local order. */
export function logicalIndices(parameter: Parameter, rank: number): number[] {
  return parameter
    .localRange(rank)
    .reduce<number[]>(
      (prefixes, { start, end }, d) =>
        prefixes.flatMap((prefix) =>
          Array.from({ length: end - start }, (_, i) => prefix * parameter.shape[d]! + start + i),
        ),
      [0],
    );
}
