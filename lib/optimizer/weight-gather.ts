import type { Device } from '../device/device.js';
import type { FoldPath } from '../device/fold.js';
import type { Stream } from '../device/stream.js';
import type { View } from '../device/view.js';
import { type PathChoice, resolvePath } from '../gradients/paths.js';
import type { GroupTeam, Teams } from '../gradients/teams.js';
import type { BucketPlacement, Placement } from '../parameters/placement.js';

/** Brings every rank the weights that the other data ranks updated. */
export class WeightGather {
  readonly #device: Device;
  readonly #weights: View;
  readonly #gathers: { placement: BucketPlacement; team: GroupTeam; path: FoldPath }[] = [];

  private constructor(device: Device, weights: View) {
    this.#device = device;
    this.#weights = weights;
  }

  /** Collective over the pipeline stage. `weights`: BF16, every bucket. */
  static async create(
    device: Device,
    placement: Placement,
    teams: Teams,
    choice: PathChoice,
    weights: View,
  ): Promise<WeightGather> {
    const gather = new WeightGather(device, weights);
    if (!placement.sharded) return gather;
    for (const bucketPlacement of placement.buckets) {
      const { bucket } = bucketPlacement;
      if (bucket.shards === 1) continue;
      const team = await teams.make(bucket.grid, [bucket.dataAxis]);
      const path = resolvePath(choice, {
        shared: team.shared,
        replicas: 1,
        mirror: false,
        team: team.description,
      });
      gather.#gathers.push({ placement: bucketPlacement, team, path });
    }
    return gather;
  }

  /** Enqueues it. */
  enqueue(stream: Stream): void {
    for (const { placement, team, path } of this.#gathers) {
      const { bucket, base } = placement;
      this.#device.gather(
        team.team,
        {
          path,
          data: this.#weights.subview(base, base + bucket.length),
          geometry: {
            begin: 0,
            end: bucket.length,
            replicas: 1,
            shardLength: bucket.length / bucket.shards,
          },
        },
        stream,
      );
    }
  }
}
