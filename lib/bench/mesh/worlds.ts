import type { Mesh, MeshSizes } from '../../mesh/mesh.js';
import { Parameter, type ParameterSpec } from '../../parameters/parameter.js';

/** Ranks that share memory, in the cost model. */
export const RANKS_PER_NODE = 8;

/** Worlds as jobs of that size are cut: lanes within a node, experts over nodes, pipeline stages beyond some thousand ranks. */
export const WORLDS: readonly MeshSizes[] = [
  { world: 8, tp: 2, ep: 4 },
  { world: 64, tp: 8, ep: 16 },
  { world: 512, tp: 8, ep: 64 },
  { world: 4096, pp: 4, tp: 8, ep: 128 },
  { world: 32_768, pp: 16, tp: 8, ep: 128 },
  { world: 262_144, pp: 64, tp: 8, ep: 128 },
  { world: 1_048_576, pp: 128, tp: 8, ep: 128 },
];

/** One layer of a mixture of 128 experts, one parameter of each kind. */
export const LAYER: readonly ParameterSpec[] = [
  { name: 'norm', shape: [4096], family: 'sequence-norm' },
  { name: 'router', shape: [128, 4096], family: 'router' },
  { name: 'attention', shape: [16_384, 4096], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 0 }] },
  { name: 'experts.up', shape: [128, 2816, 4096], family: 'expert', partition: [{ axis: 'ep', dim: 0 }] },
  { name: 'experts.down', shape: [128, 4096, 1408], family: 'expert', partition: [{ axis: 'ep', dim: 0 }] },
];

export function layerOn(mesh: Mesh): Parameter[] {
  return LAYER.map((spec) => new Parameter(spec, mesh, { sequenceParallel: true }));
}
