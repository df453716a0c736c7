import { toBFloat16 } from '#lib/device/bfloat16.js';
import type { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import type { Parameter, ParameterSpec } from '#lib/parameters/parameter.js';

/** Parameters of every family and of odd shapes; those of `expert` for up to four owners of up to two lanes. */
export const EVERY_FAMILY: readonly ParameterSpec[] = [
  { name: 'dense', shape: [7, 19], family: 'dense' },
  { name: 'scalar', shape: [], family: 'dense' },
  { name: 'none', shape: [0, 3], family: 'dense' },
  { name: 'router', shape: [5, 31], family: 'router' },
  { name: 'partial', shape: [130], family: 'router-partial' },
  { name: 'sequence', shape: [3], family: 'sequence-norm' },
  { name: 'column', shape: [8, 33], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 0 }] },
  { name: 'row', shape: [3, 8, 2], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 1 }] },
  { name: 'expert', shape: [4, 5, 3], family: 'expert', partition: [{ axis: 'ep', dim: 0 }] },
  {
    name: 'expert.cut',
    shape: [4, 3, 6],
    family: 'expert',
    partition: [
      { axis: 'ep', dim: 0 },
      { axis: 'etp', dim: 2 },
    ],
  },
  {
    name: 'native',
    shape: [2, 8],
    family: 'native-expert',
    partition: [
      { axis: 'ep', dim: 0 },
      { axis: 'etp', dim: 1 },
    ],
  },
];

/** FP32 of any bits, the same on every rank: numbers, both zeros, infinities, subnormals and NaN with payloads. */
export function anyBits(length: number, seed: number): Float32Array {
  const special = [0x80000000, 0x7f800000, 0xff800001, 0x7fc12345, 0x00000001, 0x807fffff];
  const bits = Uint32Array.from({ length }, (_, i) =>
    i % 3 === 0 ? special[(i / 3 + seed) % special.length]! : Math.imul(i + 1, 0x9e3779b1) + seed,
  );
  return new Float32Array(bits.buffer);
}

/** Numbers from -1 to 1 that BF16 holds. */
export function numbers(length: number, seed: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => (((i + seed) * 37) % 129) / 64 - 1);
}

/**
 * Writes what this rank must hold for the reduced gradient to be `logical`, exactly: all factors are powers of two where
 * the sizes of the mesh are.
 */
export function writeLogical(
  optimizer: FoldedOptimizer,
  parameter: Parameter,
  rank: number,
  logical: Float32Array,
) {
  const factor = factorOf(parameter);
  const local = parameter.slice(rank, logical).map((value) => value * factor);
  optimizer.gradient(parameter.name).set(toBFloat16(local));
}

/** From the definition of the gradient of one step, family by family. */
function factorOf({ family, mesh }: Parameter): number {
  if (family === 'router-partial') return 1 / mesh.tp;
  if (family === 'expert') return (mesh.dp * mesh.tp) / mesh.edp;
  if (family === 'native-expert') return mesh.dp / mesh.nativeEdp;
  return 1;
}
