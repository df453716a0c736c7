import { FoldstepError } from '../errors.js';
import type { GridName, Mesh } from '../mesh/mesh.js';
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

const CORRECTIONS: Readonly<Record<LaneRule, (tp: number) => Reduction>> = {
  average: (tp) => ({ axes: ['tp'], scale: 1 / tp }),
  sum: () => ({ axes: ['tp'], scale: 1 }),
  divide: (tp) => ({ axes: [], scale: 1 / tp }),
  skip: () => ({ axes: [], scale: 1 }),
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

/** The reduction a lane rule stands for. */
export function correctionOf(rule: LaneRule, mesh: Mesh): Reduction {
  return CORRECTIONS[rule](mesh.tp);
}

/** Families that an axis may cut, for saying what to use instead. */
export function familiesCutBy(axis: string, grid: GridName): Family[] {
  return FAMILY_NAMES.filter((name) => FAMILIES[name].grid === grid && FAMILIES[name].mayCut.includes(axis));
}
