import type { Device } from '../device/device.js';
import type { NormKind, NormPlan, NormScalars } from '../device/plans.js';
import { Staged } from '../device/staged.js';
import type { Stream } from '../device/stream.js';
import type { View } from '../device/view.js';
import { FoldstepError } from '../errors.js';
import type { Placement } from '../parameters/placement.js';
import { show } from '../show.js';
import { type ClipSettings, DEFAULT_GROUP } from './groups.js';

/** What one norm over the whole gradient says. The same bits on every rank. */
export interface NormResult {
  /** (sum |g|^p)^(1/p) over every logical element once, or max |g|; NaN or infinite if an element is not finite. */
  readonly gradNorm: number;
  readonly groupNorms: Readonly<Record<string, number>>;
  /** What the gradient was multiplied with; that of the groups clipped with the whole. */
  readonly clipCoefficient: number;
  readonly groupCoefficients: Readonly<Record<string, number>>;
  /** A gradient was not finite: nothing was updated. */
  readonly skipped: boolean;
  /** The lowest rank that holds a non-finite element after reduction, and the index of its first such parameter. */
  readonly nonFinite: { readonly rank: number; readonly parameterIndex: number } | null;
}

export interface NormSettings extends ClipSettings {
  /** From 1 to 1000, or Infinity. */
  readonly p: number;
  /** The norm groups, in the order that every rank of the world has them. */
  readonly groups: readonly string[];
}

/**
 * One norm over the reduced accumulators of all ranks. Each rank sums the elements it owns in FP64; the ranks' sums are
 * gathered and added in rank order by every rank, so all hold the same bits and none can leave a collective out.
 */
export class GlobalNorm {
  readonly #device: Device;
  readonly #settings: NormSettings;
  readonly #plan: NormPlan;
  readonly #kind: NormKind;
  readonly #accumulators: View;
  readonly #partials: View;
  readonly #gathered: View;
  readonly #powerScale: View;
  readonly #offsets: NormScalars;
  readonly #result: Staged<'float64'>;
  /** FP64 on the device: what the update reads. */
  readonly scalars: View<'float64'>;

  constructor(device: Device, placement: Placement, settings: NormSettings, accumulators: View) {
    const groups = settings.groups.length;
    this.#device = device;
    this.#settings = settings;
    this.#kind = kindOf(settings.p);
    this.#accumulators = accumulators;
    this.#plan = device.createNormPlan(segmentsOf(placement, device.rank, settings.groups), groups);
    this.#offsets = device.normScalars(groups);
    const partials = this.#offsets.partialsLength;
    const gathered = partials * device.size;
    const buffer = device.allocate(8 * (partials + gathered + 1 + this.#offsets.length));
    this.#partials = buffer.view('float64', 0, partials);
    this.#gathered = buffer.view('float64', 8 * partials, gathered);
    this.#powerScale = buffer.view('float64', 8 * (partials + gathered), 1);
    this.scalars = buffer.view('float64', 8 * (partials + gathered + 1), this.#offsets.length);
    this.#result = new Staged(device, this.scalars);
  }

  /** Enqueues all of it; `scalars` and `read` have the result when the stream has passed it. */
  enqueue(stream: Stream): void {
    const device = this.#device;
    const { p, maxNorm, groupMaxNorms, groups } = this.#settings;
    if (this.#kind === 'power') {
      this.#gather('infinity', stream);
      device.powerScale(this.#gathered, groups.length, device.size, this.#powerScale, stream);
    }
    this.#gather(this.#kind, stream);
    device.finishNorm(
      {
        kind: this.#kind,
        p,
        groups: groups.length,
        ranks: device.size,
        maxNorm: maxNorm ?? 0,
        groupMaxNorms: groups.map((group) => groupMaxNorms.get(group) ?? 0),
      },
      this.#gathered,
      this.#powerScale,
      this.scalars,
      stream,
    );
    this.#result.download(stream);
  }

  /** What came, once the stream has passed `enqueue`. */
  read(): NormResult {
    const values = this.#result.array;
    const at = this.#offsets;
    const { groups, groupMaxNorms } = this.#settings;
    const perGroup = (offset: (group: number) => number) =>
      Object.fromEntries(groups.map((name, g) => [name, values[offset(g)]!]));
    const withWhole = groups.findIndex((name) => !groupMaxNorms.has(name));
    const rank = values[at.rank]! - 1;
    return {
      gradNorm: values[at.norm]!,
      groupNorms: perGroup(at.groupNorm),
      clipCoefficient: values[at.coefficient(Math.max(withWhole, 0))]!,
      groupCoefficients: perGroup(at.coefficient),
      skipped: values[at.skip] !== 0,
      nonFinite: rank < 0 ? null : { rank, parameterIndex: values[at.parameter]! - 1 },
    };
  }

  dispose(): void {
    this.#plan.dispose();
    this.#result.dispose();
    this.scalars.buffer.dispose();
  }

  #gather(kind: NormKind, stream: Stream): void {
    const { p } = this.#settings;
    this.#device.normPartials(
      this.#plan,
      kind,
      p,
      this.#accumulators,
      this.#powerScale,
      this.#partials,
      stream,
    );
    this.#device.world.enqueueAllGather(this.#partials, this.#gathered, stream);
  }
}

// Beyond it |g|^p says no more than the maximum does.
const LARGEST_P = 1000;

/** Throws INVALID_ARGUMENT unless 1 <= p <= 1000 or p is Infinity. */
export function kindOf(p: number): NormKind {
  if (p === Number.POSITIVE_INFINITY) return 'infinity';
  if (typeof p !== 'number' || !(p >= 1 && p <= LARGEST_P)) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `a norm's p must be from 1 to ${LARGEST_P}, or Infinity; it is ${show(p)}`,
    );
  }
  if (p === 1) return 'one';
  return p === 2 ? 'two' : 'power';
}

function segmentsOf(placement: Placement, rank: number, groups: readonly string[]) {
  const indices = new Map(placement.layout.parameters.map(({ name }, index) => [name, index]));
  return [...placement.ownedRuns()].map(({ placement: { accumulatorShift }, entry, range }) => ({
    offset: accumulatorShift + range.start,
    length: range.end - range.start,
    group: groups.indexOf(entry.parameter.normGroup ?? DEFAULT_GROUP),
    parameter: indices.get(entry.parameter.name)!,
    counted: entry.parameter.isOwner(rank, placement.sharded),
  }));
}
