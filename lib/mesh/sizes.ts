import { checkFields } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';

/** The readings of a pipeline stage's ranks. */
export type GridName = 'dense' | 'expert' | 'native-expert';

/**
 * The axes of every grid, fastest first; `data` is slowest and takes what the others leave. Adding an axis is adding its
 * name here: its option in `MeshSizes`, its validation and its groups follow.
 */
const GRID_TABLE = {
  dense: { axes: ['tp'], data: 'dp' },
  expert: { axes: ['etp', 'ep'], data: 'edp' },
  'native-expert': { axes: ['etp', 'ep'], data: 'edp' },
} as const satisfies Record<GridName, { axes: readonly string[]; data: string }>;

type SizedAxis = (typeof GRID_TABLE)[GridName]['axes'][number];
type NativeAxis = (typeof GRID_TABLE)['native-expert']['axes'][number];

/** Every grid's name, in the order they are described. */
export const GRID_NAMES = Object.keys(GRID_TABLE) as readonly GridName[];

/**
 * What a mesh is made from, in ranks. `tp`, `ep`, `etp` (and `pp`) default to 1; the data axes take what is left.
 * `native` sizes the grid of experts that have lanes of their own, `ep` 1 and `etp` the size of `tp` unless given.
 */
export interface MeshSizes extends Partial<Record<SizedAxis, number>> {
  /** Ranks in all: pp * (ranks of one pipeline stage). */
  world: number;
  pp?: number;
  native?: Partial<Record<NativeAxis, number>>;
}

/** A grid's axes with their sizes, all found to fit. */
export interface GridSizes {
  readonly name: GridName;
  readonly axes: readonly { readonly name: string; readonly size: number }[];
  readonly dataAxis: string;
}

export interface ResolvedSizes {
  readonly world: number;
  readonly pp: number;
  readonly stage: number;
  readonly grids: Readonly<Record<GridName, GridSizes>>;
}

// MPI counts ranks in a 32-bit signed integer.
const LARGEST_WORLD = 2 ** 31 - 1;
const MOST_LISTED = 16;
const INVALID = { code: 'INVALID_MESH' } as const;

/** Fills in defaults and finds every axis's size. Throws INVALID_MESH, naming the sizes that fit. */
export function resolveSizes(given: MeshSizes): ResolvedSizes {
  const sizes = checkNames(given);
  const { world, pp = 1 } = sizes;
  if (!isSize(world) || world > LARGEST_WORLD) {
    refuse(
      `world = ${show(world)} is not a number of ranks; world may be an integer from 1 to ${LARGEST_WORLD}`,
    );
  }
  checkDivides('pp', pp, world, `the world of ${world} ranks`);
  const stage = world / pp;
  const resolve = (name: GridName): GridSizes => resolveGrid(name, sizes, stage);
  return {
    world,
    pp,
    stage,
    grids: {
      dense: resolve('dense'),
      expert: resolve('expert'),
      'native-expert': resolve('native-expert'),
    },
  };
}

function resolveGrid(name: GridName, sizes: MeshSizes, stage: number): GridSizes {
  const row = GRID_TABLE[name];
  const native = name === 'native-expert';
  const given: Partial<Record<SizedAxis, number>> = native ? nativeSizes(sizes) : sizes;
  let left = stage;
  let taken = '';
  const axes: { name: string; size: number }[] = [];
  for (const axis of row.axes) {
    const label = native ? `native.${axis}` : axis;
    const size = given[axis] ?? 1;
    const within =
      taken === ''
        ? `the pipeline stage of ${stage} ranks`
        : `the ${left} that ${taken} leaves of ${stage} ranks`;
    checkDivides(label, size, left, within);
    left /= size;
    taken += `${taken === '' ? '' : ' * '}${label} = ${size}`;
    axes.push({ name: axis, size });
  }
  axes.push({ name: row.data, size: left });
  return { name, axes, dataAxis: row.data };
}

function nativeSizes({ tp = 1, native }: MeshSizes): Partial<Record<SizedAxis, number>> {
  return { ...native, etp: native?.etp ?? tp };
}

// A misspelt size would otherwise quietly be 1.
function checkNames(given: MeshSizes): MeshSizes {
  const axes = new Set<string>(GRID_NAMES.flatMap((name) => [...GRID_TABLE[name].axes]));
  const sizes = checkFields('the sizes of a mesh', given, ['world', 'pp', ...axes, 'native'], INVALID);
  const native = checkFields(
    'the native sizes',
    sizes.native ?? {},
    GRID_TABLE['native-expert'].axes,
    INVALID,
  );
  return { ...sizes, native };
}

function checkDivides(label: string, size: number, whole: number, what: string): void {
  if (isSize(size) && whole % size === 0) return;
  refuse(`${label} = ${show(size)} does not divide ${what}; ${label} may be ${listDivisors(whole, size)}`);
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

/** The divisors of `whole`, ascending, as text; of very many, those nearest to the size that was asked for. */
function listDivisors(whole: number, asked: number): string {
  const divisors: number[] = [];
  for (let d = 1; d * d <= whole; d++) {
    if (whole % d === 0) divisors.push(d, whole / d);
  }
  const all = [...new Set(divisors)].sort((a, b) => a - b);
  if (all.length <= MOST_LISTED) return all.join(', ');
  const target = Number.isFinite(asked) ? asked : 1;
  const near = [...all].sort((a, b) => Math.abs(a - target) - Math.abs(b - target)).slice(0, MOST_LISTED);
  return `${near.sort((a, b) => a - b).join(', ')} (the nearest of ${all.length} divisors of ${whole})`;
}

function refuse(message: string): never {
  throw new FoldstepError('INVALID_MESH', message);
}
