import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GRID_NAMES, Mesh, type MeshSizes, type RankGroup } from '../../mesh/mesh.js';
import { BenchmarkFailure } from '../failure.js';
import { CALLS_PER_TURN, timeCalls } from '../measure.js';
import { layerOn } from './worlds.js';

/** In a sample of time, and held at once for a sample of memory. */
const COPIES = 200;

/** The mesh, and every group of a rank of it. */
interface Membership {
  readonly mesh: Mesh;
  readonly groups: readonly RankGroup[];
}

/**
 * Milliseconds that it takes one rank to find every group that it is in, and what it owns of a layer. It is the last rank,
 * the farthest from any table's beginning. Throws BenchmarkFailure for a group that it is not in.
 */
export async function timeMembership(sizes: MeshSizes): Promise<number[]> {
  const rank = sizes.world - 1;
  check(membershipOf(sizes, rank), rank);
  const samples = await timeCalls(CALLS_PER_TURN, () => {
    for (let i = 0; i < COPIES; i++) ownershipOf(membershipOf(sizes, rank), rank);
  });
  return samples.map((ms) => ms / COPIES);
}

/** Bytes of JavaScript's heap that a mesh and every group of a rank keep. */
export function heapOfMembership(sizes: MeshSizes): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const kept: unknown[] = Array.from({ length: COPIES }, () => undefined);
  // Twice: what the first leaves to finalizers would be freed in between.
  collect();
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < COPIES; i++) kept[i] = membershipOf(sizes, sizes.world - 1);
  collect();
  const after = process.memoryUsage().heapUsed;
  return Math.max(0, Math.round((after - before) / kept.length));
}

function membershipOf(sizes: MeshSizes, rank: number): Membership {
  const mesh = new Mesh(sizes);
  const groups = GRID_NAMES.flatMap((name) => {
    const grid = mesh.grid(name);
    return grid.axes.map((axis) => grid.group(rank, [axis.name]));
  });
  return { mesh, groups };
}

/** Which elements of a layer a rank holds, and which of them it counts in a norm. */
function ownershipOf({ mesh }: Membership, rank: number): unknown[] {
  return layerOn(mesh).map((parameter) => [parameter.localRange(rank), parameter.isOwner(rank, true)]);
}

function check({ groups }: Membership, rank: number): void {
  for (const group of groups) {
    if (group.at(group.index) === rank && group.indexOf(rank) === group.index) continue;
    throw new BenchmarkFailure(`rank ${rank} is not where its group of ${group.size} ranks says`);
  }
}
