import type { Device } from '../device/device.js';
import type { PreparedOperation, RunOfElements } from '../device/operations/prepared.js';
import type { Stream } from '../device/stream.js';
import type { View } from '../device/view.js';
import { type PathChoice, resolvePath } from '../gradients/paths.js';
import type { Teams } from '../gradients/teams.js';
import type { Placement } from '../parameters/placement.js';

/** Brings every rank the weights that the other data ranks updated. */
export class WeightGather {
  readonly #gathers: readonly PreparedOperation<RunOfElements>[];

  private constructor(gathers: readonly PreparedOperation<RunOfElements>[]) {
    this.#gathers = gathers;
  }

  /** Collective over the pipeline stage. `weights`: BF16, every bucket. */
  static async create(
    device: Device,
    placement: Placement,
    teams: Teams,
    choice: PathChoice,
    weights: View,
  ): Promise<WeightGather> {
    const gathers: PreparedOperation<RunOfElements>[] = [];
    for (const { bucket, base } of placement.buckets) {
      if (!placement.sharded || bucket.shards === 1) continue;
      const team = await teams.make(bucket.grid, [bucket.dataAxis]);
      const path = resolvePath(choice, {
        kind: device.kind,
        shared: team.shared,
        replicas: 1,
        mirror: false,
        team: team.description,
      });
      const { length, shards } = bucket;
      gathers.push(
        device.prepareGather({
          team: team.team,
          path,
          data: weights.subview(base, base + length),
          geometry: { begin: 0, end: length, replicas: 1, shardLength: length / shards },
        }),
      );
    }
    return new WeightGather(gathers);
  }

  /** Enqueues it. */
  enqueue(stream: Stream): void {
    for (const gather of this.#gathers) gather.enqueue(stream);
  }

  dispose(): void {
    for (const gather of this.#gathers) gather.dispose();
  }
}
