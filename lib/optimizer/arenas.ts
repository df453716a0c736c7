import type { Buffer } from '../device/buffer.js';
import type { Communicator } from '../device/communicator.js';
import type { Device } from '../device/device.js';
import type { PeerWindow } from '../device/peer-window.js';
import { windowWhereReachable } from '../device/reachable-window.js';
import type { View } from '../device/view.js';
import type { PathChoice } from '../gradients/paths.js';
import type { Placement } from '../parameters/placement.js';

const PAGE = 4096;

/** One rank's memory, all of it, allocated once. Peers on the same node see the gradients, accumulators and weights. */
export class Arenas {
  readonly gradients: View;
  /** FP32. */
  readonly accumulators: View;
  /** BF16. */
  readonly weights: View;
  /** FP32, owned elements. */
  readonly masters: View;
  /** FP32, laid out as the masters. */
  readonly moments: readonly View[];
  /** Over the ranks of the stage that share memory with this one; none where it is alone. */
  readonly window: PeerWindow | undefined;
  readonly #shared: Buffer;
  readonly #private: Buffer;

  private constructor(
    device: Device,
    placement: Placement,
    gradientType: 'bfloat16' | 'float32',
    moments: number,
    shared: Buffer,
    window: PeerWindow | undefined,
  ) {
    const { gradients, accumulators } = sharedSizes(placement, gradientType);
    this.window = window;
    this.#shared = shared;
    this.gradients = shared.view(gradientType, 0, placement.total);
    this.accumulators = shared.view('float32', gradients, placement.accumulators);
    this.weights = shared.view('bfloat16', gradients + accumulators, placement.total);
    const part = pages(4 * placement.owned);
    this.#private = device.allocate(part * (1 + moments));
    const views = Array.from({ length: 1 + moments }, (_, i) =>
      this.#private.view('float32', i * part, placement.owned),
    );
    this.masters = views[0]!;
    this.moments = views.slice(1);
  }

  /**
   * Collective over `neighbours`, the ranks of the stage on one node. Throws SHARED_MEMORY_TOO_SMALL; PATH_UNAVAILABLE where
   * a path that needs it is asked for and the devices do not reach each other's memory.
   */
  static async create(
    device: Device,
    neighbours: Communicator,
    placement: Placement,
    gradientType: 'bfloat16' | 'float32',
    moments: number,
    pathChoice: PathChoice,
  ): Promise<Arenas> {
    const sizes = sharedSizes(placement, gradientType);
    const bytes = sizes.gradients + sizes.accumulators + sizes.weights;
    const window = neighbours.size > 1 ? await windowOver(device, neighbours, bytes, pathChoice) : undefined;
    const shared = window?.buffer ?? device.allocate(bytes);
    return new Arenas(device, placement, gradientType, moments, shared, window);
  }

  dispose(): void {
    this.#private.dispose();
    this.#shared.dispose();
    this.window?.dispose();
  }
}

/** None, for every member, where their devices do not reach each other's memory and the path may be another. */
function windowOver(
  device: Device,
  neighbours: Communicator,
  bytes: number,
  pathChoice: PathChoice,
): Promise<PeerWindow | undefined> {
  const needed = pathChoice === 'direct' || pathChoice === 'owner';
  return needed ? device.createWindow(neighbours, bytes) : windowWhereReachable(device, neighbours, bytes);
}

function sharedSizes(placement: Placement, gradientType: 'bfloat16' | 'float32') {
  return {
    gradients: pages((gradientType === 'bfloat16' ? 2 : 4) * placement.total),
    accumulators: pages(4 * placement.accumulators),
    weights: pages(2 * placement.total),
  };
}

// An arena without elements still has a place.
function pages(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / PAGE)) * PAGE;
}
