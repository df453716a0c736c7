import type { Device } from '#lib/device/device.js';
import type { FoldstepError } from '#lib/errors.js';
import { Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import { ExpertParallel, GroupCollectives } from '#lib/parallel/index.js';

export const EXPERTS = 8;
export const WIDTH = 3;
export const TOP_K = 2;

/** The meshes of four ranks, by the layout of lanes and experts. */
export const MESHES: Readonly<Record<string, Omit<MeshSizes, 'world'>>> = {
  'tp2 ep2': { tp: 2, ep: 2 },
  'tp2 ep4': { tp: 2, ep: 4 },
  'tp4 ep2': { tp: 4, ep: 2 },
  'tp1 ep4': { tp: 1, ep: 4 },
};

/** Tokens of each data rank, and the experts that token t chooses. */
export const CASES: Readonly<Record<string, { tokens: number; choose: (t: number) => [number, number] }>> = {
  spread: { tokens: 13, choose: (t) => [(5 * t) % EXPERTS, (5 * t + 3) % EXPERTS] },
  'two experts for all': { tokens: 12, choose: () => [1, 0] },
  'three tokens': { tokens: 3, choose: (t) => [7 - t, t] },
  'no tokens': { tokens: 0, choose: () => [0, 1] },
};

export function choicesOf({ tokens, choose }: (typeof CASES)[string]): Int32Array {
  return Int32Array.from(Array.from({ length: tokens }, (_, t) => choose(t)).flat());
}

/** Small whole numbers, of which sums and products are exact in any order: the same for the same seed. */
export function wholes(length: number, seed: number): Float32Array {
  return Float32Array.from(
    { length },
    (_, i) => ((Math.imul(i + 1, 2654435761 + 40503 * seed) >>> 20) % 17) - 8,
  );
}

/** Calls with the experts of every mesh in turn. */
export async function onEveryMesh<T>(
  device: Device,
  call: (experts: ExpertParallel, mesh: Mesh) => Promise<T>,
): Promise<Record<string, T>> {
  const results: Record<string, T> = {};
  for (const [name, sizes] of Object.entries(MESHES)) {
    const mesh = new Mesh({ world: device.size, ...sizes });
    using experts = await ExpertParallel.create({ device, mesh, experts: EXPERTS });
    results[name] = await call(experts, mesh);
  }
  return results;
}

/** All ranks of the world as one group, made anew. */
export function everyone(device: Device): Promise<GroupCollectives> {
  return GroupCollectives.create(device, new Mesh({ world: device.size, tp: device.size }), 'dense', ['tp']);
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly peer?: number | undefined;
}

export async function refusal(action: Promise<unknown>): Promise<Refusal> {
  try {
    await action;
  } catch (error) {
    const { code, message, peer } = error as FoldstepError;
    return { code, message, peer };
  }
  return { code: 'none', message: '' };
}
