import { FoldstepError } from '../errors.js';
import type { Grid, GridName } from '../mesh/mesh.js';
import { show, showName } from '../show.js';

/** What a parameter is to the fold: where it lives, and what its gradient holds on one rank. */
export type Family =
  | 'dense'
  | 'router'
  | 'router-partial'
  | 'sequence-norm'
  | 'tensor-sharded'
  | 'expert'
  | 'native-expert';

/** What becomes of a gradient over the tensor lanes. */
export type LaneRule = 'average' | 'sum' | 'divide' | 'skip';

/** How the model is run, as far as it changes what a gradient holds. */
export interface FamilyOptions {
  /** Sequence parallelism: each tensor lane sees its own part of the sequence. Default false. */
  sequenceParallel?: boolean;
}

/** A sum over the axes of the parameter's grid (none: the rank's own value), times a scale. */
export interface Reduction {
  readonly axes: readonly string[];
  readonly scale: number;
}

/** One row of the table: all that is known of a family. */
export interface FamilyRow {
  readonly grid: GridName;
  readonly laneRule: LaneRule | ((options: FamilyOptions) => LaneRule);
  /** Axes that may cut the tensor. The data axis is never one: ZeRO shards along it. */
  readonly mayCut: readonly string[];
  /** Axes that must cut it. */
  readonly mustCut: readonly string[];
}

const FAMILIES: Readonly<Record<Family, FamilyRow>> = {
  dense: { grid: 'dense', laneRule: 'average', mayCut: [], mustCut: [] },
  // A replicated gate holds tp times its own routed slice, so the average over lanes is the sum of the slices.
  router: { grid: 'dense', laneRule: 'average', mayCut: [], mustCut: [] },
  'router-partial': { grid: 'dense', laneRule: 'sum', mayCut: [], mustCut: [] },
  'sequence-norm': {
    grid: 'dense',
    laneRule: ({ sequenceParallel = false }) => (sequenceParallel ? 'sum' : 'average'),
    mayCut: [],
    mustCut: [],
  },
  'tensor-sharded': { grid: 'dense', laneRule: 'skip', mayCut: ['tp'], mustCut: ['tp'] },
  // The folded forward's restore sums every lane's upstream gradient into the owner: tp times too much.
  expert: { grid: 'expert', laneRule: 'divide', mayCut: ['ep', 'etp'], mustCut: [] },
  'native-expert': { grid: 'native-expert', laneRule: 'skip', mayCut: ['ep', 'etp'], mustCut: [] },
};

/** The axes that a lane rule sums over, and what it divides the sum by. */
const LANE_RULES: Readonly<Record<LaneRule, (tp: number) => { axes: readonly string[]; divisor: number }>> = {
  average: (tp) => ({ axes: ['tp'], divisor: tp }),
  sum: () => ({ axes: ['tp'], divisor: 1 }),
  divide: (tp) => ({ axes: [], divisor: tp }),
  skip: () => ({ axes: [], divisor: 1 }),
};

export const FAMILY_NAMES = Object.keys(FAMILIES) as readonly Family[];

/** The row of a family. Throws UNKNOWN_FAMILY, naming the families; `parameter` says whose it is. */
export function familyRow(family: Family, parameter: string): FamilyRow {
  if (FAMILY_NAMES.includes(family)) return FAMILIES[family];
  throw new FoldstepError(
    'UNKNOWN_FAMILY',
    `parameter ${showName(parameter)}: there is no family ${show(family)}; the families are ${FAMILY_NAMES.join(', ')}`,
    { parameter },
  );
}

export function laneRuleOf(row: FamilyRow, options: FamilyOptions): LaneRule {
  return typeof row.laneRule === 'string' ? row.laneRule : row.laneRule(options);
}

/**
 * What a lane rule does, and an average over every other axis of `copyAxes`, along which ranks of the grid hold copies: no
 * rule says what copies bring, and copies that each followed its own gradient would drift apart. The data axis is not one
 * of them. Experts that are not cut over `etp` or `ep` are such copies.
 */
export function correctionOf(rule: LaneRule, tp: number, grid: Grid, copyAxes: readonly string[]): Reduction {
  const { axes, divisor } = LANE_RULES[rule](tp);
  const averaged = copyAxes.filter((axis) => !axes.includes(axis) && grid.size(axis) > 1);
  const copies = averaged.reduce((product, axis) => product * grid.size(axis), 1);
  return { axes: [...axes, ...averaged], scale: 1 / (divisor * copies) };
}

/** Families that an axis may cut, for saying what to use instead. */
export function familiesCutBy(axis: string, grid: GridName): Family[] {
  return FAMILY_NAMES.filter((name) => FAMILIES[name].grid === grid && FAMILIES[name].mayCut.includes(axis));
}
