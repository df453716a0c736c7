import type { Device } from '#lib/device/device.js';
import { Mesh } from '#lib/mesh/mesh.js';
import { ExpertParallel, type GroupCollectives } from '#lib/parallel/index.js';
import { EXPERTS, everyone, onEveryMesh, type Refusal, refusal, TOP_K } from './parallel-support.js';

/** Token 2 of the last rank goes elsewhere: by mesh, the refusal, and the rows of this rank when all agree again. */
export async function oneLaneDiffers(device: Device) {
  return onEveryMesh(device, async (experts) => {
    const choices = Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7);
    const other = Int32Array.of(0, 1, 2, 3, 7, 5, 6, 4);
    const refused = await refusal(experts.route(device.rank === 3 ? other : choices, TOP_K));
    const { rowsPerExpert } = await experts.route(choices, TOP_K);
    return { ...refused, rowsAfter: rowsPerExpert };
  });
}

export async function oneLaneHasMoreTokens(device: Device) {
  return onEveryMesh(device, async (experts) => {
    const choices = Int32Array.of(0, 1, 2, 3, 4, 5);
    return refusal(experts.route(device.rank === 1 ? choices : choices.subarray(0, 4), TOP_K));
  });
}

/** By call: what a rank gets where the last rank has other lengths than the rest. Each in a group of its own. */
export async function differentLengths(device: Device) {
  const last = device.rank === 3;
  const zeros = (length: number) => new Float32Array(length);
  const ones = [1, 1, 1, 1];
  const calls: Record<string, (group: GroupCollectives) => Promise<unknown>> = {
    allReduce: (group) => group.allReduce(zeros(last ? 101 : 100)),
    'allReduce that one has to grow for': (group) => group.allReduce(zeros(last ? 50_000 : 100)),
    'allReduce that one need not grow for': (group) => group.allReduce(zeros(last ? 0 : 50_000)),
    'allReduce that all grow for': (group) => group.allReduce(zeros(last ? 50_001 : 50_000)),
    'allGather of other lengths': (group) => group.allGather(zeros(1), last ? [2, 1, 1, 1] : ones),
    // Of one longest length and one sum: nothing but the counts themselves tells them apart.
    'allGather of the same longest': (group) =>
      group.allGather(zeros(last ? 2 : 1), last ? [1, 4, 1, 2] : [1, 1, 4, 2].with(device.rank, 1)),
    'reduceScatter of the same sum': (group) =>
      group.reduceScatter(zeros(7), last ? [4, 1, 1, 1] : [1, 4, 1, 1]),
    allToAll: (group) => group.allToAll(zeros(last ? 5 : 4), last ? [1, 2, 1, 1] : ones, ones),
    'another call': (group) => (last ? group.allGather(zeros(1), ones) : group.reduceScatter(zeros(4), ones)),
  };
  const refusals: Record<string, Refusal> = {};
  for (const [name, call] of Object.entries(calls)) {
    using group = await everyone(device);
    refusals[name] = await refusal(call(group));
  }
  return refusals;
}

export async function unfitMeshes(device: Device) {
  const create = (sizes: object, experts: number, world = device.size) =>
    refusal(ExpertParallel.create({ device, mesh: new Mesh({ world, ...sizes }), experts }));
  return {
    etp: await create({ ep: 2, etp: 2 }, EXPERTS),
    experts: await create({ ep: 4 }, 6),
    world: await create({ ep: 2 }, EXPERTS, 2),
    numbers: await create({ ep: 4 }, device.rank === 2 ? 6 : 8),
    meshes: await create({ tp: device.rank === 1 ? 4 : 2, ep: 2 }, EXPERTS),
  };
}
