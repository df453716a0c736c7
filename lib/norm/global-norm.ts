import type { Device } from '../device/device.js';
import type { NormKind, NormScalars } from '../device/operations/norm.js';
import type { PreparedOperation } from '../device/operations/prepared.js';
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
  /** In their order; each one's partials are gathered before the next. */
  readonly #partialOperations: readonly PreparedOperation[];
  /** Of p = 2 and the like none: it runs behind the first partials. */
  readonly #scaling: PreparedOperation | undefined;
  readonly #finish: PreparedOperation;
  readonly #partials: View;
  readonly #gathered: View;
  readonly #offsets: NormScalars;
  readonly #result: Staged<'float64'>;
  /** FP64 on the device: what the update reads. */
  readonly scalars: View<'float64'>;

  constructor(device: Device, placement: Placement, settings: NormSettings, accumulators: View) {
    const { p, maxNorm, groupMaxNorms } = settings;
    const groups = settings.groups.length;
    const ranks = device.size;
    const kind = kindOf(p);
    this.#device = device;
    this.#settings = settings;
    this.#offsets = device.normScalars(groups);
    const partials = this.#offsets.partialsLength;
    const all = partials * ranks;
    const buffer = device.allocate(8 * (partials + all + 1 + this.#offsets.length));
    this.#partials = buffer.view('float64', 0, partials);
    this.#gathered = buffer.view('float64', 8 * partials, all);
    const powerScale = buffer.view('float64', 8 * (partials + all), 1);
    this.scalars = buffer.view('float64', 8 * (partials + all + 1), this.#offsets.length);
    this.#result = new Staged(device, this.scalars);

    const power = kind === 'power';
    const segments = segmentsOf(placement, device.rank, settings.groups);
    const common = { segments, groups, p, arena: accumulators, partials: this.#partials };
    const kinds: readonly NormKind[] = power ? ['infinity', 'power'] : [kind];
    this.#partialOperations = kinds.map((each) =>
      device.prepareNormPartials({ ...common, kind: each, powerScale }),
    );
    this.#scaling = power
      ? device.preparePowerScale({ groups, ranks, gathered: this.#gathered, scale: powerScale })
      : undefined;
    this.#finish = device.prepareFinishNorm({
      kind,
      p,
      groups,
      ranks,
      maxNorm: maxNorm ?? 0,
      groupMaxNorms: settings.groups.map((group) => groupMaxNorms.get(group) ?? 0),
      gathered: this.#gathered,
      powerScale,
      scalars: this.scalars,
    });
  }

  /** Enqueues all of it; `scalars` and `read` have the result when the stream has passed it. */
  enqueue(stream: Stream): void {
    for (const [i, partials] of this.#partialOperations.entries()) {
      if (i > 0) this.#scaling?.enqueue(stream);
      partials.enqueue(stream);
      this.#device.world.enqueueAllGather(this.#partials, this.#gathered, stream);
    }
    this.#finish.enqueue(stream);
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
    for (const partials of this.#partialOperations) partials.dispose();
    this.#scaling?.dispose();
    this.#finish.dispose();
    this.#result.dispose();
    this.scalars.buffer.dispose();
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
  return [...placement.ownedRuns()].map(({ entry, accumulator, length }) => ({
    offset: accumulator,
    length,
    group: groups.indexOf(entry.parameter.normGroup ?? DEFAULT_GROUP),
    parameter: indices.get(entry.parameter.name)!,
    counted: entry.parameter.isOwner(rank, placement.sharded),
  }));
}
