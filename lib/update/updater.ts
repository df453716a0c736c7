import type { Device } from '../device/device.js';
import type { PreparedOperation } from '../device/operations/prepared.js';
import type { UpdateSettings } from '../device/operations/update.js';
import type { Stream } from '../device/stream.js';
import type { View } from '../device/view.js';
import { DEFAULT_GROUP } from '../norm/groups.js';
import { stretchesOf } from '../parameters/owned.js';
import type { Placement } from '../parameters/placement.js';

/** One rank's arenas as the update sees them. */
export interface UpdateArenas {
  /** FP32, what this rank updates. */
  readonly masters: View;
  /** FP32, reduced. */
  readonly accumulators: View;
  /** BF16, every bucket. */
  readonly weights: View;
  /** FP32, laid out as the masters; as many as the rule has states. */
  readonly moments: readonly View[];
}

/** The optimizer step on what this rank owns: unscaled, clipped, updated, rounded and cleared in one pass. */
export class Updater {
  readonly #operation: PreparedOperation<[learningRate: number, step: number]>;

  /** `scalars`: where the norm of `groups` puts the coefficients, or the skip. */
  constructor(
    device: Device,
    placement: Placement,
    groups: readonly string[],
    settings: UpdateSettings,
    arenas: UpdateArenas,
    scalars: View,
  ) {
    const { masters, accumulators, weights, moments } = arenas;
    const [moment1, moment2] = moments;
    this.#operation = device.prepareUpdate({
      settings,
      segments: segmentsOf(placement, groups),
      clears: clearsOf(placement),
      groups: groups.length,
      master: masters,
      accumulator: accumulators,
      weight: weights,
      ...(moment1 ? { moment1 } : {}),
      ...(moment2 ? { moment2 } : {}),
      scalars,
    });
  }

  /** Enqueues one step, counted from 1. */
  enqueue(learningRate: number, step: number, stream: Stream): void {
    this.#operation.enqueue(stream, learningRate, step);
  }

  dispose(): void {
    this.#operation.dispose();
  }
}

/** Neighbours of one norm group in one run. */
function segmentsOf(placement: Placement, groups: readonly string[]) {
  const stretches = stretchesOf(placement.ownedRuns(), ({ normGroup }) =>
    groups.indexOf(normGroup ?? DEFAULT_GROUP),
  );
  return stretches.map(({ master, accumulator, weight, length, key: group }) => ({
    master,
    accumulator,
    weight,
    length,
    group,
  }));
}

/** What the data ranks' reduction left in the shards of others. */
function clearsOf({ buckets, zeroStage }: Placement) {
  if (zeroStage !== 1) return [];
  return buckets.flatMap(({ bucket, base, own }) => [
    { offset: base, length: own.start },
    { offset: base + own.end, length: bucket.length - own.end },
  ]);
}
