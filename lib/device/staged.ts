import type { Device } from './device.js';
import type { ArrayOf, DType } from './dtype.js';
import type { Stream } from './stream.js';
import type { View } from './view.js';

/**
 * A view of a device's memory and an array that JavaScript reads and writes in its place: the memory itself where
 * JavaScript sees it, else as many elements that the device copies from and to.
 */
export class Staged<D extends DType = DType> {
  readonly view: View<D>;
  readonly #device: Device;
  readonly #host: View<D>;
  /** What `part` has shown. They hold their arrays: the next one to ask gets the same. */
  readonly #parts = new Map<string, View<D>>();

  constructor(device: Device, view: View<D>) {
    this.view = view;
    this.#device = device;
    this.#host = view.buffer.hostAccessible
      ? view
      : device.allocateHost(view.byteLength).view(view.dtype, 0, view.length);
  }

  get array(): ArrayOf<D> {
    return this.#host.array;
  }

  /** Elements [begin, end) of `array`, the same object every time, also where the whole is too long for one. */
  part(begin: number, end: number): ArrayOf<D> {
    const key = `${begin}-${end}`;
    const part = this.#parts.get(key) ?? this.#host.subview(begin, end);
    this.#parts.set(key, part);
    return part.array;
  }

  /** Enqueues what makes the device see elements [begin, end) of `array`. */
  upload(stream: Stream, begin = 0, end = this.view.length): void {
    this.#copy(this.#host, this.view, stream, begin, end);
  }

  /** Enqueues what makes `array` show elements [begin, end) as the device has them. */
  download(stream: Stream, begin = 0, end = this.view.length): void {
    this.#copy(this.view, this.#host, stream, begin, end);
  }

  /** Frees what it allocated. */
  dispose(): void {
    if (this.#host !== this.view) this.#host.buffer.dispose();
  }

  #copy(source: View<D>, target: View<D>, stream: Stream, begin: number, end: number): void {
    if (source === target || begin === end) return;
    this.#device.copy(source.subview(begin, end), target.subview(begin, end), stream);
  }
}
