import type { Device } from '#lib/device/device.js';
import type { Routing } from '#lib/parallel/index.js';
import { bits32 } from '../../support/fold.js';
import {
  CASES,
  choicesOf,
  EXPERTS,
  everyone,
  onEveryMesh,
  TOP_K,
  WIDTH,
  wholes,
} from './parallel-support.js';

/** What expert `e` makes of a row: a linear map of its own, exact on whole numbers. */
function expert(e: number, row: Float32Array): Float32Array {
  return row.map((value, i) => (e + 1) * value + (e - 3) * row[(i + 1) % row.length]!);
}

const WEIGHTS = [0.5, 0.25];

function addWeighted(target: Float32Array, row: Float32Array, choice: number): void {
  for (const [i, value] of row.entries()) target[i]! += WEIGHTS[choice]! * value;
}

const rowOf = (rows: Float32Array, i: number) => rows.subarray(i * WIDTH, (i + 1) * WIDTH);

async function folded(routing: Routing, first: number, tokens: Float32Array): Promise<Float32Array> {
  const rows = await routing.dispatch(tokens, WIDTH);
  let next = 0;
  for (const [local, count] of routing.rowsPerExpert.entries()) {
    for (let i = 0; i < count; i++, next++) {
      rowOf(rows, next).set(expert(first + local, rowOf(rows, next)));
    }
  }
  const collected = await routing.collect(rows, WIDTH);
  const { start, end } = routing.ownTokens;
  const own = new Float32Array((end - start) * WIDTH);
  for (let i = 0; i < (end - start) * TOP_K; i++) {
    addWeighted(rowOf(own, Math.floor(i / TOP_K)), rowOf(collected, i), i % TOP_K);
  }
  return routing.restore(own, WIDTH);
}

function direct(choices: Int32Array, tokens: Float32Array): Float32Array {
  const result = new Float32Array(tokens.length);
  for (const [i, e] of choices.entries()) {
    const token = Math.floor(i / TOP_K);
    addWeighted(rowOf(result, token), expert(e, rowOf(tokens, token)), i % TOP_K);
  }
  return result;
}

/** By mesh and case: what the folded experts give, what they should, and the rows of each of this rank's. */
export async function foldedAndDirect(device: Device) {
  return onEveryMesh(device, async (experts, mesh) => {
    const results: Record<string, { folded: number[]; direct: number[]; rows: readonly number[] }> = {};
    for (const [name, layout] of Object.entries(CASES)) {
      const choices = choicesOf(layout);
      const dataRank = mesh.grid('dense').coordinate(device.rank, 'dp');
      const tokens = wholes(layout.tokens * WIDTH, dataRank);
      const routing = await experts.route(choices, TOP_K);
      results[name] = {
        folded: [...(await folded(routing, experts.localExperts.start, tokens))],
        direct: [...direct(choices, tokens)],
        rows: routing.rowsPerExpert,
      };
    }
    return results;
  });
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((total, value, i) => total + value * b[i]!, 0);
}

/** By mesh, case and map A: this rank's parts of <A x, y> and <x, A* y>. */
export async function innerProducts(device: Device) {
  return onEveryMesh(device, async (experts) => {
    const results: Record<string, Record<string, [number, number]>> = {};
    for (const [name, layout] of Object.entries(CASES)) {
      const routing = await experts.route(choicesOf(layout), TOP_K);
      const own = routing.ownTokens.end - routing.ownTokens.start;
      const vector = (rows: number, seed: number) => wholes(rows * WIDTH, 10 * device.rank + seed);
      const tokens = vector(routing.tokens, 1);
      const rows = vector(routing.rows, 2);
      const assignments = vector(own * TOP_K, 3);
      const ownTokens = vector(own, 4);
      results[name] = {
        dispatch: [
          dot(await routing.dispatch(tokens, WIDTH), rows),
          dot(tokens, await routing.dispatchBackward(rows, WIDTH)),
        ],
        collect: [
          dot(await routing.collect(rows, WIDTH), assignments),
          dot(rows, await routing.collectBackward(assignments, WIDTH)),
        ],
        restore: [
          dot(await routing.restore(ownTokens, WIDTH), tokens),
          dot(ownTokens, await routing.restoreBackward(tokens, WIDTH)),
        ],
      };
    }
    return results;
  });
}

/** Lengths of which the last does not fit the memory that a group begins with. */
export const LENGTHS = [0, 1, 1000, 40_000];

/** Numbers whose sum depends on the order they are added in. */
export function uneven(length: number, rank: number): Float32Array {
  return Float32Array.from(
    { length },
    (_, i) => Math.sin(1 + i * (rank + 1)) * 10 ** (rank % 2 === 0 ? 3 : -1),
  );
}

/** By length: the bits of the sum over all ranks, and of this rank's part of it by reduceScatter. */
export async function sums(device: Device) {
  using group = await everyone(device);
  const results: Record<number, { whole: number[]; part: number[] }> = {};
  for (const length of LENGTHS) {
    const counts = partsOf(length);
    results[length] = {
      whole: bits32(await group.allReduce(uneven(length, device.rank))),
      part: bits32(await group.reduceScatter(uneven(length, device.rank), counts)),
    };
  }
  return results;
}

/** Four parts, the second of them empty. */
export function partsOf(length: number): [number, number, number, number] {
  const first = Math.floor(length / 3);
  return [first, 0, length - first, 0];
}

export async function gathered(device: Device) {
  using group = await everyone(device);
  const counts = [3, 0, 5, 1];
  const values = Float32Array.from({ length: counts[device.rank]! }, (_, i) => 10 * device.rank + i);
  return [...(await group.allGather(values, counts))];
}

/** Rank s sends rank r as many numbers `10 s + r` as (s + r) mod 3. */
export async function sentToAll(device: Device) {
  using group = await everyone(device);
  const { rank } = device;
  const count = (other: number) => (rank + other) % 3;
  const counts = [0, 1, 2, 3].map(count);
  const values = Float32Array.from(
    [0, 1, 2, 3].flatMap((to) => Array.from({ length: count(to) }, () => 10 * rank + to)),
  );
  return [...(await group.allToAll(values, counts, counts))];
}

/** Allocations on the device while a loop repeats what it has done once before. */
export async function allocationsOfALoop(device: Device) {
  return onEveryMesh(device, async (experts) => {
    const width = 2048;
    const step = async () => {
      for (const layout of Object.values(CASES)) {
        const routing = await experts.route(choicesOf(layout), TOP_K);
        const tokens = new Float32Array(routing.tokens * width);
        const back = await routing.collect(await routing.dispatch(tokens, width), width);
        await routing.dispatchBackward(await routing.collectBackward(back, width), width);
        await routing.restore(await routing.restoreBackward(tokens, width), width);
        await experts.lanes.allReduce(tokens);
      }
    };
    const first = await allocationsDuring(device, step);
    let later = 0;
    for (let i = 0; i < 5; i++) later += await allocationsDuring(device, step);
    return { first, later };
  });
}

async function allocationsDuring(device: Device, action: () => Promise<void>): Promise<number> {
  let count = 0;
  const names = ['allocate', 'allocateHost', 'createWindow'] as const;
  const watched = names.map((name) => {
    const original = device[name] as (...args: unknown[]) => unknown;
    device[name] = ((...args: unknown[]) => {
      count += 1;
      return original.apply(device, args);
    }) as never;
    return name;
  });
  await action();
  for (const name of watched) delete (device as Partial<Device>)[name];
  return count;
}

export async function owners(device: Device) {
  return onEveryMesh(device, async (experts) => ({
    local: experts.localExperts,
    lanes: experts.lanes.worldRanks,
    experts: EXPERTS,
  }));
}
