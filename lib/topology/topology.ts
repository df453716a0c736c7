import { type Axis, GRID_NAMES, type Grid, type GridName, type Mesh, type MeshSizes } from '../mesh/mesh.js';

/** Limits on what is written out of a large world. */
export interface TopologyLimits {
  /** Groups listed per axis. Default 64. */
  groups?: number;
  /** Ranks listed per group. Default 64. */
  ranks?: number;
}

/** The groups along one axis of a grid, over all pipeline stages. */
export interface AxisTopology {
  readonly name: string;
  /** Ranks in each group. */
  readonly size: number;
  /** Ranks from one member of a group to the next. */
  readonly stride: number;
  /** Groups in the world. */
  readonly groupCount: number;
  /** World ranks of the first groups, each ascending, in order of first rank; a long group is cut short. */
  readonly groups: readonly (readonly number[])[];
  /** Whether `groups` leaves out groups or ranks. */
  readonly elided: boolean;
}

export interface GridTopology {
  readonly name: GridName;
  /** Fastest first. */
  readonly axes: readonly AxisTopology[];
}

/** The group tables of a mesh, fit for JSON. */
export interface Topology {
  readonly sizes: MeshSizes;
  /** Ranks of one pipeline stage. */
  readonly stage: number;
  readonly grids: readonly GridTopology[];
}

const DEFAULT_LIMIT = 64;
const TEXT_LIMITS = { groups: 16, ranks: 16 };
const RANKS_PER_LINE = 32;

/** The group tables of a mesh. Costs what it lists, whatever the world's size. */
export function describeTopology(mesh: Mesh, limits: TopologyLimits = {}): Topology {
  const { groups = DEFAULT_LIMIT, ranks = DEFAULT_LIMIT } = limits;
  return {
    sizes: mesh.toJSON(),
    stage: mesh.stage,
    grids: GRID_NAMES.map((name) => {
      const grid = mesh.grid(name);
      return { name, axes: grid.axes.map((axis) => describeAxis(mesh, grid, axis, groups, ranks)) };
    }),
  };
}

function describeAxis(mesh: Mesh, grid: Grid, axis: Axis, groups: number, ranks: number): AxisTopology {
  const { name, size, stride } = axis;
  const groupCount = mesh.world / size;
  const listed = Math.min(groupCount, groups);
  const members = Math.min(size, ranks);
  return {
    name,
    size,
    stride,
    groupCount,
    groups: Array.from({ length: listed }, (_, index) => {
      const group = grid.group(firstRank(index, axis), [name]);
      return Array.from({ length: members }, (_, i) => group.at(i));
    }),
    elided: listed < groupCount || members < size,
  };
}

/**
 * First rank of a group, groups counted by first rank over the whole world. The stage is a multiple of size * stride,
 * so no group of this count straddles two pipeline stages.
 */
function firstRank(index: number, { size, stride }: Axis): number {
  return Math.floor(index / stride) * stride * size + (index % stride);
}

/** Number, in the same count, of the group that a rank belongs to. */
export function groupNumber(rank: number, { size, stride }: Axis): number {
  return Math.floor(rank / (stride * size)) * stride + (rank % stride);
}

/** The group tables as lines of text; a large world is cut short and says so. */
export function topologyText(mesh: Mesh): string {
  const { grids } = describeTopology(mesh, TEXT_LIMITS);
  const lines = [`world ${mesh.world} = pp ${mesh.pp} x stage ${mesh.stage}`];
  for (const grid of grids) {
    lines.push('', grid.name);
    const width = Math.max(...grid.axes.map((axis) => `${axis.name} ${axis.size}`.length));
    for (const axis of grid.axes)
      lines.push(`  ${`${axis.name} ${axis.size}`.padEnd(width)}  ${groupsText(axis)}`);
  }
  return `${lines.join('\n')}\n`;
}

function groupsText({ size, groupCount, groups }: AxisTopology): string {
  if (size === 1) return 'every rank alone';
  const perGroup = groups[0]!.length;
  const listed = groups.slice(0, Math.max(1, Math.floor(RANKS_PER_LINE / perGroup)));
  const parts = listed.map((ranks) => ranks.join(' ') + (size > perGroup ? ` ... (${size} ranks)` : ''));
  if (groupCount > listed.length) parts.push(`... (${groupCount} groups)`);
  return parts.join(' | ');
}
