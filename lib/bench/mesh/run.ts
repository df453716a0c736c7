import { Mesh } from '../../mesh/mesh.js';
import { bytesText, digits } from '../../report/numbers.js';
import { describeHost, type Host, hostText } from '../host.js';
import { TURNS, timingOf } from '../measure.js';
import { countText, tableText } from '../text.js';
import { type CostRow, costsOf, normCostOf } from './cost.js';
import { heapOfMembership, timeMembership } from './groups.js';
import type { Traffic } from './traffic.js';
import { RANKS_PER_NODE, WORLDS } from './worlds.js';

/** What it costs one rank to know its groups and what it owns. */
export interface WorldRow {
  readonly world: number;
  readonly mesh: string;
  readonly medianUs: number;
  readonly p10Us: number;
  readonly p90Us: number;
  /** Of JavaScript's heap, for the mesh and every group of the rank. */
  readonly heapBytes: number;
  /** Of one step's norm, which is over the world whatever the path and the ZeRO stage. */
  readonly norm: Traffic;
}

export interface MeshReport {
  readonly rows: readonly WorldRow[];
  readonly costs: readonly CostRow[];
  readonly host: Host;
}

/** Topology and ownership, measured, and the cost of one layer, from the schedule, over worlds of many sizes. */
export async function benchMesh(): Promise<MeshReport> {
  const samples = WORLDS.map((): number[] => []);
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [index, sizes] of WORLDS.entries()) samples[index]!.push(...(await timeMembership(sizes)));
  }
  const rows: WorldRow[] = [];
  const costs: CostRow[] = [];
  for (const [index, sizes] of WORLDS.entries()) {
    const mesh = new Mesh(sizes);
    const { medianMs, p10Ms, p90Ms } = timingOf(samples[index]!);
    rows.push({
      world: mesh.world,
      mesh: mesh.describe(),
      medianUs: medianMs * 1e3,
      p10Us: p10Ms * 1e3,
      p90Us: p90Ms * 1e3,
      heapBytes: heapOfMembership(sizes),
      norm: normCostOf(mesh),
    });
    costs.push(...(await costsOf(mesh)));
  }
  return { rows, costs, host: describeHost() };
}

/** For people. */
export function meshText({ rows, costs, host }: MeshReport): string {
  const times = tableText({
    head: ['world', 'median us', 'p10', 'p90', 'heap', 'norm', 'messages'],
    rows: rows.map((row) => [
      countText(row.world),
      ...[row.medianUs, row.p10Us, row.p90Us].map(digits),
      bytesText(row.heapBytes),
      bytesText(row.norm.bytes),
      String(row.norm.messages),
    ]),
  });
  const table = tableText({
    head: [
      'world',
      'path',
      'ZeRO',
      'micro-batch',
      'off node',
      'messages',
      'step',
      'off node',
      'messages',
      'temporary',
    ],
    rows: costs.map(({ world, path, zeroStage, microbatch, step }) => [
      countText(world),
      path,
      String(zeroStage),
      ...[microbatch, step].flatMap(({ bytes, bytesBetweenNodes, messages }) => [
        bytesText(Math.round(bytes)),
        bytesText(Math.round(bytesBetweenNodes)),
        String(messages),
      ]),
      bytesText(Math.max(microbatch.temporaryBytes, step.temporaryBytes)),
    ]),
  });
  return [
    hostText(host),
    '',
    'All groups of the last rank and what it owns of a layer; what one norm over the world brings it:',
    times,
    '',
    `What a layer of 128 experts costs that rank, ${RANKS_PER_NODE} ranks a node: bytes that come in, how many of them from other`,
    "nodes, and messages that go out. The passes are those that the optimizer's parts enqueue; MPI's own collectives count as",
    'rings.',
    table,
    '',
  ].join('\n');
}
