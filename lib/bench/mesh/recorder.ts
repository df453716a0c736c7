import { Buffer } from '../../device/buffer.js';
import type { Communicator } from '../../device/communicator.js';
import type { Device } from '../../device/device.js';
import { bytesOf } from '../../device/dtype.js';
import type { AccumulateSpec } from '../../device/operations/accumulate.js';
import type { GatherSpec } from '../../device/operations/gather.js';
import { normScalars } from '../../device/operations/norm.js';
import type { PreparedOperation, RunOfElements } from '../../device/operations/prepared.js';
import type { ReduceSpec } from '../../device/operations/reduce.js';
import type { FoldPath, Geometry, Team } from '../../device/operations/team.js';
import type { PeerWindow } from '../../device/peer-window.js';
import type { Stream } from '../../device/stream.js';
import type { View } from '../../device/view.js';
import { type GroupTeam, Teams } from '../../gradients/teams.js';
import type { Grid, RankGroup } from '../../mesh/mesh.js';
import type { RawMemory } from '../../native/types.js';

/** A fold over a team that was enqueued. */
export interface RecordedFold {
  readonly kind: 'accumulate' | 'reduce' | 'gather';
  readonly path: FoldPath;
  readonly group: RankGroup;
  readonly geometry: Geometry;
  /** Bytes of an element of what is summed or gathered. */
  readonly width: number;
}

/** An all-gather of the norm's partial sums over the world. */
export interface WorldGather {
  readonly kind: 'world-gather';
  readonly ranks: number;
  /** Of one rank's part. */
  readonly bytes: number;
}

export type Recorded = RecordedFold | WorldGather;

/** Teams of one rank of a world that need not exist: every group is what the mesh says. */
export class PlannedTeams extends Teams {
  readonly #groups = new Map<Team, RankGroup>();

  /** `node`: the world ranks that share memory with `rank`. */
  constructor(rank: number, node: readonly number[]) {
    const stage = { rank: 0, worldRanks: [rank], split: async () => ({ dispose() {} }) };
    super(stage as unknown as Communicator, { worldRanks: node } as unknown as PeerWindow);
  }

  override async make(grid: Grid, axes: readonly string[]): Promise<GroupTeam> {
    const made = await super.make(grid, axes);
    this.#groups.set(made.team, made.group);
    return made;
  }

  groupOf(team: Team): RankGroup {
    return this.#groups.get(team)!;
  }
}

/** Stands in for a rank's device, has no memory, and notes what the optimizer's parts enqueue on it. */
export class Recorder {
  readonly rank: number;
  readonly size: number;
  readonly kind = 'cuda';
  readonly world = { enqueueAllGather: (source: View) => this.#gatherOverWorld(source) };
  readonly normScalars = normScalars;
  readonly #teams: PlannedTeams;
  #recorded: Recorded[] = [];

  constructor(rank: number, size: number, teams: PlannedTeams) {
    this.rank = rank;
    this.size = size;
    this.#teams = teams;
  }

  /** For what takes a device and calls no more of it than is here. */
  get device(): Device {
    return this as unknown as Device;
  }

  /** What has been enqueued since the last call. */
  take(): Recorded[] {
    const recorded = this.#recorded;
    this.#recorded = [];
    return recorded;
  }

  allocate(bytes: number): Buffer {
    const memory: RawMemory = {
      bytes: () => bytes,
      arrayBuffer: () => new ArrayBuffer(0),
      hostAccessible: () => true,
      address: () => 0n,
      read() {},
      write() {},
      release() {},
    };
    return new Buffer(memory);
  }

  prepareAccumulate({ team, path, gradient, geometry }: AccumulateSpec) {
    return this.#operation('accumulate', team, path, geometry!, gradient);
  }

  prepareReduce({ team, path, data, geometry }: ReduceSpec) {
    return this.#operation('reduce', team, path, geometry!, data);
  }

  prepareGather({ team, path, data, geometry }: GatherSpec) {
    return this.#operation('gather', team, path, geometry!, data);
  }

  prepareNormPartials() {
    return { enqueue() {}, dispose() {} };
  }

  prepareFinishNorm() {
    return { enqueue() {}, dispose() {} };
  }

  #operation(
    kind: RecordedFold['kind'],
    team: Team,
    path: FoldPath,
    widest: Geometry,
    view: View,
  ): Pick<PreparedOperation<RunOfElements>, 'enqueue' | 'dispose'> {
    const group = this.#teams.groupOf(team);
    const width = bytesOf(view.dtype);
    return {
      enqueue: (_stream, begin = widest.begin, end = widest.end) => {
        this.#recorded.push({ kind, path, group, geometry: { ...widest, begin, end }, width });
      },
      dispose() {},
    };
  }

  #gatherOverWorld(source: View): void {
    this.#recorded.push({ kind: 'world-gather', ranks: this.size, bytes: source.byteLength });
  }
}

/** Nothing is ever enqueued on it. */
export const NO_STREAM = {} as Stream;
