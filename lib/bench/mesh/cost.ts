import { FoldstepError } from '../../errors.js';
import { PATH_CHOICES, type PathChoice } from '../../gradients/paths.js';
import { wholeLayout } from '../../gradients/ranges.js';
import { GradientReducer } from '../../gradients/reducer.js';
import type { Mesh } from '../../mesh/mesh.js';
import { GlobalNorm } from '../../norm/global-norm.js';
import { groupNames } from '../../norm/groups.js';
import { WeightGather } from '../../optimizer/weight-gather.js';
import { FlatLayout } from '../../parameters/layout.js';
import { Placement, type ZeroStage } from '../../parameters/placement.js';
import { NO_STREAM, PlannedTeams, Recorder } from './recorder.js';
import { type Traffic, trafficOf } from './traffic.js';
import { layerOn, RANKS_PER_NODE } from './worlds.js';

const ZERO_STAGES: readonly ZeroStage[] = [0, 1, 2];

/** What one layer costs one rank, by the passes that the optimizer's own parts enqueue for it. */
export interface CostRow {
  readonly world: number;
  readonly zeroStage: ZeroStage;
  readonly path: PathChoice;
  readonly microbatch: Traffic;
  /** Reductions and weights; the norm is the same on all paths and is counted apart. */
  readonly step: Traffic;
}

/** Of the last rank, at every ZeRO stage, on every path that the world's nodes allow. */
export async function costsOf(mesh: Mesh): Promise<CostRow[]> {
  const rows: CostRow[] = [];
  for (const zeroStage of ZERO_STAGES) {
    for (const path of PATH_CHOICES) {
      try {
        rows.push(await costOf(mesh, mesh.world - 1, zeroStage, path));
      } catch (error) {
        // Lanes or data ranks on different nodes: this world does not have the path.
        if (!(error instanceof FoldstepError) || error.code !== 'PATH_UNAVAILABLE') throw error;
      }
    }
  }
  return rows;
}

/** Of one rank. Throws PATH_UNAVAILABLE. */
export async function costOf(
  mesh: Mesh,
  rank: number,
  zeroStage: ZeroStage,
  path: PathChoice,
): Promise<CostRow> {
  const layout = new FlatLayout(layerOn(mesh));
  const placement = new Placement(layout, rank, zeroStage);
  const node = nodeOf(mesh, rank);
  const teams = new PlannedTeams(rank, node);
  const recorder = new Recorder(rank, mesh.world, teams);
  const { device } = recorder;
  const gradients = recorder.allocate(2 * placement.total).view('bfloat16');
  const accumulators = recorder.allocate(4 * placement.accumulators).view('float32');
  const weights = recorder.allocate(2 * placement.total).view('bfloat16');

  const settings = { path, correct: 'microbatch', accumulate: 'fp32', mirror: false } as const;
  const reducer = await GradientReducer.create(device, placement, teams, settings, {
    gradients,
    accumulators,
  });
  const gather = await WeightGather.create(device, placement, teams, path, weights);

  reducer.accumulate(wholeLayout(layout), NO_STREAM);
  const microbatch = trafficOf(recorder.take(), node);
  reducer.reduce(NO_STREAM);
  gather.enqueue(NO_STREAM);
  const step = trafficOf(recorder.take(), node);
  return { world: mesh.world, zeroStage, path, microbatch, step };
}

/** Of one norm over the world, to its last rank. */
export function normCostOf(mesh: Mesh): Traffic {
  const rank = mesh.world - 1;
  const layout = new FlatLayout(layerOn(mesh));
  const placement = new Placement(layout, rank, 2);
  const node = nodeOf(mesh, rank);
  const recorder = new Recorder(rank, mesh.world, new PlannedTeams(rank, node));
  const accumulators = recorder.allocate(4 * placement.accumulators).view('float32');
  const settings = { p: 2, groups: groupNames(layout), maxNorm: 1, groupMaxNorms: new Map<string, number>() };
  new GlobalNorm(recorder.device, placement, settings, accumulators).enqueue(NO_STREAM);
  return trafficOf(recorder.take(), node);
}

/** Ranks of the stage that share memory: nodes take ranks in order. */
function nodeOf(mesh: Mesh, rank: number): number[] {
  const first = rank - (rank % RANKS_PER_NODE);
  const start = mesh.stageStart(rank);
  return Array.from({ length: RANKS_PER_NODE }, (_, i) => first + i).filter(
    (other) => other >= start && other < start + mesh.stage,
  );
}
