import { FoldstepError } from '../errors.js';
import { Genuine } from '../genuine.js';
import { show } from '../show.js';
import { checkRank, Grid } from './grid.js';
import { GRID_NAMES, type GridName, type MeshSizes, resolveSizes } from './sizes.js';

export { Grid } from './grid.js';
export { type Axis, RankGroup } from './group.js';
export { GRID_NAMES, type GridName, type MeshSizes } from './sizes.js';

/**
 * Which ranks work together: `world = pp * stage`, the stage read as `tp x dp`, as `etp x ep x edp` for folded experts,
 * and as `etp x ep x edp` with sizes of its own for native experts. Holds no table of ranks, whatever the world's size.
 */
export class Mesh extends Genuine {
  /** Ranks in all. */
  readonly world: number;
  /** Number of pipeline stages. */
  readonly pp: number;
  /** Ranks of one pipeline stage. */
  readonly stage: number;
  readonly tp: number;
  readonly dp: number;
  readonly ep: number;
  readonly etp: number;
  readonly edp: number;
  readonly nativeEp: number;
  readonly nativeEtp: number;
  readonly nativeEdp: number;
  readonly #grids: Readonly<Record<GridName, Grid>>;

  /** Throws INVALID_MESH for any size that does not fit, naming those that do. */
  constructor(sizes: MeshSizes) {
    super();
    const { world, pp, stage, grids } = resolveSizes(sizes);
    this.world = world;
    this.pp = pp;
    this.stage = stage;
    const dense = new Grid(grids.dense, world);
    const expert = new Grid(grids.expert, world);
    const native = new Grid(grids['native-expert'], world);
    this.#grids = { dense, expert, 'native-expert': native };
    this.tp = dense.size('tp');
    this.dp = dense.size('dp');
    this.ep = expert.size('ep');
    this.etp = expert.size('etp');
    this.edp = expert.size('edp');
    this.nativeEp = native.size('ep');
    this.nativeEtp = native.size('etp');
    this.nativeEdp = native.size('edp');
  }

  /** One of the mesh's grids; the same object at every call. Throws INVALID_ARGUMENT for a name that is none's. */
  grid(name: GridName): Grid {
    if (GRID_NAMES.includes(name)) return this.#grids[name];
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `a mesh has no grid ${show(name)}; its grids are ${GRID_NAMES.join(', ')}`,
    );
  }

  /** Pipeline stage of a rank, 0 to pp - 1. Throws INVALID_ARGUMENT for a rank outside the world. */
  stageOf(rank: number): number {
    checkRank(rank, this.world);
    return Math.floor(rank / this.stage);
  }

  /** First rank of the pipeline stage of a rank. Throws INVALID_ARGUMENT for a rank outside the world. */
  stageStart(rank: number): number {
    return this.stageOf(rank) * this.stage;
  }

  /** Throws WORLD_MISMATCH on `rank` unless the mesh is of as many ranks as its job has. */
  checkWorld(ranks: number, rank: number): void {
    if (this.world === ranks) return;
    throw new FoldstepError(
      'WORLD_MISMATCH',
      `the mesh is of ${this.world} ranks and the job has ${show(ranks)}; start ${this.world} ranks, or make the mesh for ${show(ranks)}`,
      { rank },
    );
  }

  /** One line, such as `world 8 = pp 1 x stage 8; dense tp 2 x dp 4; expert etp 1 x ep 4 x edp 2; ...`. */
  describe(): string {
    const grids = GRID_NAMES.map((name) => this.grid(name).describe());
    return [`world ${this.world} = pp ${this.pp} x stage ${this.stage}`, ...grids].join('; ');
  }

  /** The sizes in full, defaults filled in: `new Mesh(mesh.toJSON())` is the same mesh. */
  toJSON(): Required<MeshSizes> {
    const sized = (name: GridName): object => {
      const { axes, dataAxis } = this.grid(name);
      return Object.fromEntries(
        axes.filter((axis) => axis.name !== dataAxis).map(({ name, size }) => [name, size]),
      );
    };
    const sizes: object = {
      world: this.world,
      pp: this.pp,
      ...sized('dense'),
      ...sized('expert'),
      native: sized('native-expert'),
    };
    return sizes as Required<MeshSizes>;
  }
}
