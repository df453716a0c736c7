import type { Device } from '../device/device.js';
import type { UpdatePlan, UpdateSettings } from '../device/plans.js';
import type { Stream } from '../device/stream.js';
import type { View } from '../device/view.js';
import { DEFAULT_GROUP } from '../norm/groups.js';
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
  readonly #device: Device;
  readonly #plan: UpdatePlan;
  readonly #arenas: UpdateArenas;

  constructor(device: Device, placement: Placement, groups: readonly string[], arenas: UpdateArenas) {
    this.#device = device;
    this.#arenas = arenas;
    this.#plan = device.createUpdatePlan(segmentsOf(placement, groups), clearsOf(placement), groups.length);
  }

  /** Enqueues one step with the coefficients, or the skip, that `scalars` will hold. */
  enqueue(settings: UpdateSettings, scalars: View, stream: Stream): void {
    const { masters, accumulators, weights, moments } = this.#arenas;
    const [moment1, moment2] = moments;
    this.#device.update(
      this.#plan,
      settings,
      {
        master: masters,
        accumulator: accumulators,
        weight: weights,
        ...(moment1 ? { moment1 } : {}),
        ...(moment2 ? { moment2 } : {}),
      },
      scalars,
      stream,
    );
  }

  dispose(): void {
    this.#plan.dispose();
  }
}

/** Neighbours of one norm group in one run; the padding goes with what precedes it, and stays zero. */
function segmentsOf(placement: Placement, groups: readonly string[]) {
  return placement.buckets.flatMap(({ bucket, base, own, ownBase, accumulatorShift }) => {
    const runs: { start: number; end: number; group: number }[] = [];
    for (const { parameter, offset, size } of bucket.entries) {
      const end = Math.min(offset + size, own.end);
      const start = Math.max(offset, own.start);
      if (start >= end) continue;
      const group = groups.indexOf(parameter.normGroup ?? DEFAULT_GROUP);
      const last = runs.at(-1);
      if (last?.group === group) last.end = end;
      else runs.push({ start, end, group });
    }
    return runs.map(({ start, end, group }) => ({
      master: ownBase + start - own.start,
      accumulator: accumulatorShift + start,
      weight: base + start,
      length: end - start,
      group,
    }));
  });
}

/** What the data ranks' reduction left in the shards of others. */
function clearsOf({ buckets, zeroStage }: Placement) {
  if (zeroStage !== 1) return [];
  return buckets.flatMap(({ bucket, base, own }) => [
    { offset: base, length: own.start },
    { offset: base + own.end, length: bucket.length - own.end },
  ]);
}
