import type { Device } from '../device/device.js';
import type { FoldPath } from '../device/fold.js';
import type { Stream } from '../device/stream.js';
import type { View } from '../device/view.js';
import type { Reduction } from '../parameters/families.js';
import type { Bucket } from '../parameters/layout.js';
import type { BucketPlacement, Placement } from '../parameters/placement.js';
import { type PathChoice, resolvePath } from './paths.js';
import type { BucketRange } from './ranges.js';
import { type CorrectionTime, type Schedule, scheduleOf } from './schedule.js';
import type { GroupTeam, Teams } from './teams.js';

export interface ReducerSettings {
  readonly path: PathChoice;
  readonly correct: CorrectionTime;
  readonly accumulate: 'fp32' | 'bf16';
  readonly mirror: boolean;
}

interface Pass {
  readonly team: GroupTeam;
  readonly path: FoldPath;
  readonly scale: number;
}

interface BucketPlan {
  readonly placement: BucketPlacement;
  readonly accumulate: Pass;
  /** None where the step leaves the accumulator as it is. */
  readonly step: Pass | undefined;
  /** Over the tensor lanes, where the accumulating pass does not itself give what is mirrored. */
  readonly mirror: Pass | undefined;
}

/** Takes gradients to the reduced accumulator: what runs when is `scheduleOf`'s, how is the teams' and paths'. */
export class GradientReducer {
  readonly #device: Device;
  readonly #placement: Placement;
  readonly #settings: ReducerSettings;
  readonly #plans = new Map<Bucket, BucketPlan>();
  readonly #gradients: View;
  readonly #accumulators: View;

  private constructor(
    device: Device,
    placement: Placement,
    settings: ReducerSettings,
    gradients: View,
    accumulators: View,
  ) {
    this.#device = device;
    this.#placement = placement;
    this.#settings = settings;
    this.#gradients = gradients;
    this.#accumulators = accumulators;
  }

  /** Collective over the pipeline stage. `gradients`: BF16 or FP32, every bucket; `accumulators`: FP32. */
  static async create(
    device: Device,
    placement: Placement,
    teams: Teams,
    settings: ReducerSettings,
    arenas: { gradients: View; accumulators: View },
  ): Promise<GradientReducer> {
    const reducer = new GradientReducer(device, placement, settings, arenas.gradients, arenas.accumulators);
    for (const bucketPlacement of placement.buckets) {
      const { bucket } = bucketPlacement;
      const schedule = scheduleOf(bucket, placement.zeroStage, settings.correct);
      reducer.#plans.set(bucket, await reducer.#plan(bucketPlacement, schedule, teams));
    }
    return reducer;
  }

  /** The path a micro-batch takes over the tensor lanes; where no bucket has any, that of the first. */
  get path(): FoldPath {
    const plans = [...this.#plans.values()];
    const chosen = plans.find(({ accumulate }) => accumulate.team.group.size > 1) ?? plans[0];
    return chosen?.accumulate.path ?? 'direct';
  }

  /** Enqueues one micro-batch's pass over the given runs. */
  accumulate(ranges: readonly BucketRange[], stream: Stream): void {
    for (const range of ranges) this.#accumulateRange(range, stream);
  }

  /** Enqueues what is left to do on the accumulators at the step. */
  reduce(stream: Stream): void {
    for (const { placement, step } of this.#plans.values()) {
      if (!step) continue;
      const { bucket, own, accumulatorOwnBase } = placement;
      const alone = this.#placement.zeroStage === 2;
      const length = alone ? own.end - own.start : bucket.length;
      const base = alone ? accumulatorOwnBase : placement.base;
      const shards = this.#placement.zeroStage === 1 ? bucket.shards : 1;
      this.#device.reduce(
        step.team.team,
        {
          path: step.path,
          data: this.#accumulators.subview(base, base + length),
          scale: step.scale,
          sharded: alone,
          geometry: {
            begin: 0,
            end: length,
            replicas: step.team.group.size / shards,
            shardLength: length / shards,
          },
        },
        stream,
      );
    }
  }

  #accumulateRange({ bucket, start, end }: BucketRange, stream: Stream): void {
    const { placement, accumulate, mirror } = this.#plans.get(bucket)!;
    const sharded = this.#placement.zeroStage === 2;
    const shards = sharded ? bucket.shards : 1;
    const gradient = this.#gradients.subview(placement.base, placement.base + bucket.length);
    const accumulatorBase = sharded ? placement.accumulatorOwnBase : placement.base;
    this.#device.accumulate(
      accumulate.team.team,
      {
        path: accumulate.path,
        gradient,
        accumulator: this.#accumulators.subview(accumulatorBase, accumulatorBase + bucket.length / shards),
        scale: accumulate.scale,
        accumulation: this.#settings.accumulate,
        mirror: this.#settings.mirror && bucket.corrects && !mirror,
        sharded,
        geometry: {
          begin: start,
          end,
          replicas: accumulate.team.group.size / shards,
          shardLength: bucket.length / shards,
        },
      },
      stream,
    );
    if (!mirror) return;
    this.#device.reduce(
      mirror.team.team,
      {
        path: mirror.path,
        data: gradient,
        scale: mirror.scale,
        geometry: { begin: start, end, replicas: mirror.team.group.size, shardLength: bucket.length },
      },
      stream,
    );
  }

  async #plan(placement: BucketPlacement, schedule: Schedule, teams: Teams): Promise<BucketPlan> {
    const { bucket } = placement;
    const { zeroStage } = this.#placement;
    const { mirror } = this.#settings;
    const accumulate = await this.#pass(bucket, schedule.accumulate, zeroStage === 2, mirror, teams);
    const step = await this.#pass(bucket, schedule.step, zeroStage === 1, false, teams);
    const idle = step.team.group.size === 1 && step.scale === 1;
    // What is mirrored is the gradient corrected over lanes and copies alone: at ZeRO 2 the accumulating pass gives another.
    const apart = mirror && zeroStage === 2 && bucket.corrects;
    return {
      placement,
      accumulate,
      step: idle ? undefined : step,
      mirror: apart ? await this.#pass(bucket, bucket.correction, false, true, teams) : undefined,
    };
  }

  async #pass(
    bucket: Bucket,
    { axes, scale }: Reduction,
    sharded: boolean,
    mirror: boolean,
    teams: Teams,
  ): Promise<Pass> {
    const team = await teams.make(bucket.grid, axes);
    const replicas = team.group.size / (sharded ? bucket.shards : 1);
    const { path } = this.#settings;
    return {
      team,
      scale,
      path: resolvePath(path, { shared: team.shared, replicas, mirror, team: team.description }),
    };
  }
}
