import type { Communicator } from '../device/communicator.js';
import type { Device } from '../device/device.js';
import type { FoldPath, Team } from '../device/operations/team.js';
import type { PeerWindow } from '../device/peer-window.js';
import { windowWhereReachable } from '../device/reachable-window.js';
import { Staged } from '../device/staged.js';
import type { Stream } from '../device/stream.js';

const FIRST_ELEMENTS = 2 ** 14;
const BYTES = 4;

/** What a scratch memory of `elements` holds: growing by doubling, a loop soon allocates nothing more. */
function capacityFor(elements: number): number {
  return Math.max(FIRST_ELEMENTS, 2 ** Math.ceil(Math.log2(Math.max(1, elements))));
}

/** FP32 memory of this rank's device, used again and again; none until it is asked for. */
export class Scratch {
  readonly #device: Device;
  #staged: Staged<'float32'> | undefined;

  constructor(device: Device) {
    this.#device = device;
  }

  /** At least `elements`. What it held is lost where it grows. */
  atLeast(elements: number): Staged<'float32'> {
    if (this.#staged && this.#staged.view.length >= elements) return this.#staged;
    this.dispose();
    const capacity = capacityFor(elements);
    const view = this.#device.allocate(BYTES * capacity).view('float32');
    this.#staged = new Staged(this.#device, view);
    return this.#staged;
  }

  dispose(): void {
    this.#staged?.dispose();
    this.#staged?.view.buffer.dispose();
    this.#staged = undefined;
  }
}

/**
 * FP32 memory for fused passes of a group: in a window where its members share memory, else each member's own. The team
 * and the path to give to `Device.prepareReduce` and `Device.prepareGather` come with it.
 */
export class TeamScratch {
  readonly #device: Device;
  readonly #communicator: Communicator;
  readonly #stream: Stream;
  readonly #own: Scratch;
  #window: PeerWindow | undefined;
  #shared: Staged<'float32'> | undefined;

  private constructor(device: Device, communicator: Communicator, stream: Stream) {
    this.#device = device;
    this.#communicator = communicator;
    this.#stream = stream;
    this.#own = new Scratch(device);
  }

  /** Collective over the communicator. Rejects with SHARED_MEMORY_TOO_SMALL, SHARED_MEMORY_UNAVAILABLE. */
  static async create(device: Device, communicator: Communicator, stream: Stream): Promise<TeamScratch> {
    const scratch = new TeamScratch(device, communicator, stream);
    if (communicator.size === 1) return scratch;
    const neighbours = await communicator.split(device.node, communicator.rank, stream);
    const shared = neighbours.size === communicator.size;
    neighbours.dispose();
    if (shared) await scratch.#openWindow(FIRST_ELEMENTS);
    return scratch;
  }

  get team(): Team {
    return { communicator: this.#communicator, ...(this.#window ? { window: this.#window } : {}) };
  }

  get path(): FoldPath {
    return this.#window ? 'owner' : 'exchange';
  }

  /** At least `elements`, the same number on every member. What it held is lost where it grows. */
  async atLeast(elements: number): Promise<Staged<'float32'>> {
    if (!this.#window) return this.#own.atLeast(elements);
    if (this.#shared!.view.length < elements) await this.#grow(elements);
    return this.#shared!;
  }

  dispose(): void {
    this.#own.dispose();
    this.#shared?.dispose();
    this.#window?.dispose();
  }

  /**
   * A member that asks for less stays in the window that there is: they must find out there, or they would wait for one
   * another in two places. So a pass over no elements announces the length first.
   */
  async #grow(elements: number): Promise<void> {
    const geometry = { begin: 0, end: 0, replicas: this.#communicator.size, shardLength: elements };
    const { view } = this.#shared!;
    const { team, path } = this;
    this.#device.prepareReduce({ team, path, data: view, geometry }).enqueueOnce(this.#stream);
    await this.#stream.synchronize();
    const [window, shared] = [this.#window, this.#shared];
    await this.#openWindow(capacityFor(elements));
    shared?.dispose();
    window?.dispose();
  }

  async #openWindow(elements: number): Promise<void> {
    this.#window = await windowWhereReachable(
      this.#device,
      this.#communicator,
      BYTES * elements,
      this.#stream,
    );
    if (!this.#window) return;
    this.#shared = new Staged(this.#device, this.#window.buffer.view('float32', 0, elements));
  }
}
