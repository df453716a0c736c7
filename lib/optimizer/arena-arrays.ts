import type { Device } from '../device/device.js';
import { Staged } from '../device/staged.js';
import type { Stream } from '../device/stream.js';
import type { View } from '../device/view.js';
import type { Range } from '../parameters/slice.js';

/**
 * The arrays in which JavaScript sees an arena's parameters. Where it does not see the device's
 * memory, what it was shown is copied, and nothing else: other code may write the rest on the
 * device.
 */
export class ArenaArrays {
  readonly #device: Device;
  readonly #arena: View;
  readonly #shown = new Set<string>();
  /** Of each parameter, in the order in which they lie in the arena. */
  readonly #order: ReadonlyMap<string, number>;
  /** The runs that `#runs` found, and how many parameters had been shown then. */
  readonly #found = new WeakMap<
    readonly Range[],
    { readonly shown: number; readonly runs: readonly Range[] }
  >();
  #staged: Staged | undefined;

  /** `places`: every parameter's. */
  constructor(device: Device, arena: View, places: readonly Range[]) {
    this.#device = device;
    this.#arena = arena;
    const sorted = [...places].sort((a, b) => a.start - b.start || a.end - b.end);
    this.#order = new Map(sorted.map((place, index) => [keyOf(place), index]));
  }

  /**
   * A parameter's elements, the same array every time. Throws INVALID_LENGTH for one too long for
   * an array.
   */
  show(place: Range): Float32Array | Uint16Array {
    const { start, end } = place;
    this.#staged ??= new Staged(this.#device, this.#arena);
    const array = this.#staged.part(start, end) as Float32Array | Uint16Array;
    if (this.#arena.buffer.hostAccessible || this.#shown.has(keyOf(place))) return array;
    this.#shown.add(keyOf(place));
    array.set(this.#arena.subview(start, end).read() as Float32Array | Uint16Array);
    return array;
  }

  /** Sets a parameter's elements on the device, and in its array. */
  write(place: Range, values: Float32Array | Uint16Array): void {
    this.#arena.subview(place.start, place.end).write(values as never);
    if (this.#shown.has(keyOf(place))) this.show(place).set(values);
  }

  /** Enqueues what makes the device see those of `places` that were shown. */
  upload(places: readonly Range[], stream: Stream): void {
    for (const { start, end } of this.#runs(places)) this.#staged!.upload(stream, start, end);
  }

  /**
   * Enqueues what makes the arrays of those of `places` that were shown say what the device has.
   */
  download(places: readonly Range[], stream: Stream): void {
    for (const { start, end } of this.#runs(places)) this.#staged!.download(stream, start, end);
  }

  dispose(): void {
    this.#staged?.dispose();
  }

  /**
   * As few runs as hold those that were shown. They are found once for each list of places, until
   * more are shown.
   */
  #runs(places: readonly Range[]): readonly Range[] {
    if (this.#shown.size === 0) return [];
    const known = this.#found.get(places);
    if (known?.shown === this.#shown.size) return known.runs;
    const runs = this.#findRuns(places);
    this.#found.set(places, { shown: this.#shown.size, runs });
    return runs;
  }

  /** Neighbours have padding alone between them. */
  #findRuns(places: readonly Range[]): readonly Range[] {
    const indexOf = (place: Range): number => this.#order.get(keyOf(place))!;
    const shown = places
      .filter((place) => this.#shown.has(keyOf(place)))
      .sort((a, b) => indexOf(a) - indexOf(b));
    const runs: { start: number; end: number; last: number }[] = [];
    for (const place of shown) {
      const index = indexOf(place);
      const run = runs.at(-1);
      if (run !== undefined && index <= run.last + 1) Object.assign(run, { end: place.end, last: index });
      else runs.push({ ...place, last: index });
    }
    return runs;
  }
}

// A parameter without elements begins where the next one does.
function keyOf({ start, end }: Range): string {
  return `${start}-${end}`;
}
