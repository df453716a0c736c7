import type { Device } from '../device/device.js';
import { Staged } from '../device/staged.js';
import type { Stream } from '../device/stream.js';
import type { View } from '../device/view.js';

/** A parameter's place in an arena: elements [start, end). */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * The arrays in which JavaScript sees an arena's parameters. Where it does not see the device's memory, what it was shown
 * is copied, and nothing else: other code may write the rest on the device.
 */
export class ArenaArrays {
  readonly #device: Device;
  readonly #arena: View;
  readonly #shown = new Set<string>();
  #staged: Staged | undefined;

  constructor(device: Device, arena: View) {
    this.#device = device;
    this.#arena = arena;
  }

  /** A parameter's elements, the same memory every time. */
  show({ start, end }: Place): Float32Array | Uint16Array {
    this.#staged ??= new Staged(this.#device, this.#arena);
    const array = (this.#staged.array as Float32Array | Uint16Array).subarray(start, end);
    if (this.#arena.buffer.hostAccessible || this.#shown.has(keyOf(start, end))) return array;
    this.#shown.add(keyOf(start, end));
    array.set(this.#arena.subview(start, end).read() as Float32Array | Uint16Array);
    return array;
  }

  /** Sets a parameter's elements on the device, and in its array. */
  write(place: Place, values: Float32Array | Uint16Array): void {
    this.#arena.subview(place.start, place.end).write(values as never);
    if (this.#shown.has(keyOf(place.start, place.end))) this.show(place).set(values);
  }

  /** Enqueues what makes the device see those of `places` that were shown. */
  upload(places: readonly Place[], stream: Stream): void {
    for (const { start, end } of this.#runs(places)) this.#staged!.upload(stream, start, end);
  }

  /** Enqueues what makes the arrays of those of `places` that were shown say what the device has. */
  download(places: readonly Place[], stream: Stream): void {
    for (const { start, end } of this.#runs(places)) this.#staged!.download(stream, start, end);
  }

  dispose(): void {
    this.#staged?.dispose();
  }

  /** As few runs as hold what was shown; between two neighbours there is padding alone. */
  #runs(places: readonly Place[]): Place[] {
    if (this.#shown.size === 0) return [];
    const runs: { start: number; end: number }[] = [];
    let open = false;
    for (const { start, end } of places) {
      const shown = this.#shown.has(keyOf(start, end));
      if (shown && open) runs.at(-1)!.end = end;
      else if (shown) runs.push({ start, end });
      open = shown;
    }
    return runs;
  }
}

// A parameter without elements begins where the next one does.
function keyOf(start: number, end: number): string {
  return `${start}-${end}`;
}
