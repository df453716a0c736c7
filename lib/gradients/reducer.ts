import type { Device } from '../device/device.js';
import type { PreparedOperation, RunOfElements } from '../device/operations/prepared.js';
import type { FoldPath } from '../device/operations/team.js';
import type { Stream } from '../device/stream.js';
import type { View } from '../device/view.js';
import type { Reduction } from '../parameters/families.js';
import type { Bucket } from '../parameters/layout.js';
import type { BucketPlacement, Placement } from '../parameters/placement.js';
import { type CorrectionTime, reductionsOf } from './correction-time.js';
import { type PathChoice, resolvePath } from './paths.js';
import type { BucketRange } from './ranges.js';
import type { GroupTeam, Teams } from './teams.js';

export interface ReducerSettings {
  readonly path: PathChoice;
  readonly correct: CorrectionTime;
  readonly accumulate: 'fp32' | 'bf16';
  readonly mirror: boolean;
}

export interface ReducerArenas {
  /** BF16 or FP32, every bucket. */
  readonly gradients: View;
  /** FP32. */
  readonly accumulators: View;
}

/** Where a reduction runs, and how. */
interface Route {
  readonly team: GroupTeam;
  readonly path: FoldPath;
  readonly scale: number;
}

type Operation = PreparedOperation<RunOfElements>;

interface BucketOperations {
  readonly bucket: Bucket;
  /** The route of `accumulate`. */
  readonly route: Route;
  readonly accumulate: Operation;
  /** Undefined if the step does not change the accumulator. */
  readonly step: Operation | undefined;
  /** Writes the mirrored gradient. Defined only if `accumulate` cannot write it. */
  readonly mirror: Operation | undefined;
}

/** Reduces gradients into the accumulator. `reductionsOf` decides what runs when, the teams and paths decide how. */
export class GradientReducer {
  readonly #buckets: readonly BucketOperations[];
  readonly #byBucket: ReadonlyMap<Bucket, BucketOperations>;

  private constructor(buckets: readonly BucketOperations[]) {
    this.#buckets = buckets;
    this.#byBucket = new Map(buckets.map((operations) => [operations.bucket, operations]));
  }

  /** Collective over the pipeline stage. */
  static async create(
    device: Device,
    placement: Placement,
    teams: Teams,
    settings: ReducerSettings,
    arenas: ReducerArenas,
  ): Promise<GradientReducer> {
    const preparation = new Preparation(device, placement, teams, settings, arenas);
    const buckets: BucketOperations[] = [];
    for (const bucketPlacement of placement.buckets) buckets.push(await preparation.of(bucketPlacement));
    return new GradientReducer(buckets);
  }

  /** The path of a micro-batch over the tensor lanes. If no bucket has several ranks in its team, that of the first. */
  get path(): FoldPath {
    const routes = this.#buckets.map(({ route }) => route);
    const chosen = routes.find(({ team }) => team.group.size > 1) ?? routes[0];
    return chosen?.path ?? 'direct';
  }

  /** Enqueues one micro-batch's correction and accumulation of the given runs. */
  accumulate(ranges: readonly BucketRange[], stream: Stream): void {
    for (const { bucket, start, end } of ranges) {
      const { accumulate, mirror } = this.#byBucket.get(bucket)!;
      accumulate.enqueue(stream, start, end);
      mirror?.enqueue(stream, start, end);
    }
  }

  /** Enqueues what is left to do on the accumulators at the step. */
  reduce(stream: Stream): void {
    for (const { step } of this.#buckets) step?.enqueue(stream);
  }

  dispose(): void {
    for (const { accumulate, step, mirror } of this.#buckets) {
      for (const operation of [accumulate, step, mirror]) operation?.dispose();
    }
  }
}

/** Prepares the operations of one bucket after the other. */
class Preparation {
  readonly #device: Device;
  readonly #placement: Placement;
  readonly #teams: Teams;
  readonly #settings: ReducerSettings;
  readonly #arenas: ReducerArenas;

  constructor(
    device: Device,
    placement: Placement,
    teams: Teams,
    settings: ReducerSettings,
    arenas: ReducerArenas,
  ) {
    this.#device = device;
    this.#placement = placement;
    this.#teams = teams;
    this.#settings = settings;
    this.#arenas = arenas;
  }

  async of(placement: BucketPlacement): Promise<BucketOperations> {
    const { bucket } = placement;
    const { zeroStage } = this.#placement;
    const { mirror, correct } = this.#settings;
    const reductions = reductionsOf(bucket, zeroStage, correct);
    const route = await this.#route(bucket, reductions.accumulate, zeroStage === 2, mirror);
    const step = await this.#route(bucket, reductions.step, zeroStage === 1, false);
    const idle = step.team.group.size === 1 && step.scale === 1;
    // The mirror holds the gradient corrected over lanes and copies only. At ZeRO 2, `accumulate` also reduces over the
    // data ranks, so the mirror needs an operation of its own.
    const apart = mirror && zeroStage === 2 && bucket.corrects;
    const mirrored = apart ? await this.#route(bucket, bucket.correction, false, true) : undefined;
    return {
      bucket,
      route,
      accumulate: this.#accumulation(placement, route, mirror && bucket.corrects && !apart),
      step: idle ? undefined : this.#stepReduction(placement, step),
      mirror: mirrored && this.#mirroring(placement, mirrored),
    };
  }

  #accumulation(placement: BucketPlacement, { team, path, scale }: Route, mirror: boolean): Operation {
    const { bucket, accumulatorOwnBase } = placement;
    const sharded = this.#placement.zeroStage === 2;
    const shards = sharded ? bucket.shards : 1;
    const base = sharded ? accumulatorOwnBase : placement.base;
    return this.#device.prepareAccumulate({
      team: team.team,
      path,
      scale,
      gradient: this.#gradientsOf(placement),
      accumulator: this.#arenas.accumulators.subview(base, base + bucket.length / shards),
      accumulation: this.#settings.accumulate,
      mirror,
      sharded,
      geometry: {
        begin: 0,
        end: bucket.length,
        replicas: team.group.size / shards,
        shardLength: bucket.length / shards,
      },
    });
  }

  #stepReduction(placement: BucketPlacement, { team, path, scale }: Route): Operation {
    const { bucket, own, accumulatorOwnBase } = placement;
    const { zeroStage } = this.#placement;
    const alone = zeroStage === 2;
    const length = alone ? own.end - own.start : bucket.length;
    const base = alone ? accumulatorOwnBase : placement.base;
    const shards = zeroStage === 1 ? bucket.shards : 1;
    return this.#device.prepareReduce({
      team: team.team,
      path,
      scale,
      data: this.#arenas.accumulators.subview(base, base + length),
      sharded: alone,
      geometry: { begin: 0, end: length, replicas: team.group.size / shards, shardLength: length / shards },
    });
  }

  #mirroring(placement: BucketPlacement, { team, path, scale }: Route): Operation {
    const data = this.#gradientsOf(placement);
    return this.#device.prepareReduce({ team: team.team, path, scale, data });
  }

  #gradientsOf({ bucket, base }: BucketPlacement): View {
    return this.#arenas.gradients.subview(base, base + bucket.length);
  }

  async #route(
    bucket: Bucket,
    { axes, scale }: Reduction,
    sharded: boolean,
    mirror: boolean,
  ): Promise<Route> {
    const team = await this.#teams.make(bucket.grid, axes);
    const replicas = team.group.size / (sharded ? bucket.shards : 1);
    const { kind } = this.#device;
    const { shared, description } = team;
    const path = resolvePath(this.#settings.path, { kind, shared, replicas, mirror, team: description });
    return { team, scale, path };
  }
}
