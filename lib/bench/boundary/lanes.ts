import { fromBFloat16, toBFloat16 } from '../../device/bfloat16.js';
import type { Communicator } from '../../device/communicator.js';
import type { Device } from '../../device/device.js';
import type { Team } from '../../device/operations/team.js';
import type { PeerWindow } from '../../device/peer-window.js';
import type { View } from '../../device/view.js';
import { checkPeriodic, eighths, fill } from '../pattern.js';

const PAGE = 4096;

/** Values that the lanes' average must come near to, relative to its size. */
export const FP32_TOLERANCE = 2 ** -22;
export const BF16_TOLERANCE = 2 ** -8;

/** The lanes of a boundary, all ranks of the world: their gradients and accumulators, and the teams that reach them. */
export class Lanes {
  readonly device: Device;
  readonly elements: number;
  readonly mirror: boolean;
  /** What the sum is multiplied with. */
  readonly scale: number;
  readonly gradient: View<'bfloat16'>;
  readonly accumulator: View<'float32'>;
  /** All ranks, sharing memory. */
  readonly together: Team;
  /** All ranks, as if on different nodes. */
  readonly apart: Team;
  /** This rank alone: for what the ancestors do after their collective. */
  readonly alone: Team;
  readonly #pristine: View<'bfloat16'>;

  private constructor(
    device: Device,
    elements: number,
    mirror: boolean,
    window: PeerWindow,
    self: Communicator,
  ) {
    this.device = device;
    this.elements = elements;
    this.mirror = mirror;
    this.scale = 1 / device.size;
    this.gradient = window.buffer.view('bfloat16', 0, elements);
    this.accumulator = window.buffer.view('float32', gradientBytes(elements), elements);
    this.together = { communicator: device.world, window };
    this.apart = { communicator: device.world };
    this.alone = { communicator: self };
    this.#pristine = device.allocate(2 * elements).view('bfloat16');
    fill(this.#pristine, toBFloat16(gradientOf(device.rank)));
  }

  /** Collective over the world, whose ranks must share memory. */
  static async create(device: Device, elements: number, mirror: boolean): Promise<Lanes> {
    const window = await device.createWindow(device.world, gradientBytes(elements) + 4 * elements);
    const self = await device.world.split(device.rank);
    return new Lanes(device, elements, mirror, window, self);
  }

  /** Enqueues putting the gradients back to what they were. */
  restore(): void {
    this.device.copy(this.#pristine, this.gradient);
  }

  /**
   * Checks every element after one call on a cleared accumulator; gives the average of 1 and 1.0078125. `rounded`: the way
   * goes through BF16. Throws BenchmarkFailure.
   */
  check(way: string, { rounded, mirrors }: { rounded: boolean; mirrors: boolean }): number {
    const average = averageOf(this.device.size);
    const lane = `${way} on rank ${this.device.rank}`;
    const tolerance = rounded ? BF16_TOLERANCE : FP32_TOLERANCE;
    const accumulated = this.accumulator.read();
    checkPeriodic(`the accumulator of ${lane}`, accumulated, average, tolerance);
    const gradient = this.gradient.read();
    if (mirrors) {
      checkPeriodic(`the gradient of ${lane}`, fromBFloat16(gradient), average, BF16_TOLERANCE);
    } else {
      checkPeriodic(`the gradient of ${lane}`, gradient, toBFloat16(gradientOf(this.device.rank)), 0);
    }
    return accumulated[0]!;
  }

  dispose(): void {
    this.#pristine.buffer.dispose();
    this.alone.communicator.dispose();
    this.together.window!.dispose();
  }
}

/** One period of a rank's gradient: 1 or 1.0078125, the next BF16, and then eighths. */
export function gradientOf(rank: number): Float32Array {
  const period = eighths(rank);
  period[0] = rank % 2 === 0 ? 1 : 1.0078125;
  return period;
}

/** One period of the ranks' average, in FP64. */
export function averageOf(ranks: number): Float64Array {
  const sum = new Float64Array(gradientOf(0).length);
  for (let rank = 0; rank < ranks; rank++) {
    for (const [k, value] of gradientOf(rank).entries()) sum[k]! += value;
  }
  return sum.map((value) => value / ranks);
}

function gradientBytes(elements: number): number {
  return Math.ceil((2 * elements) / PAGE) * PAGE;
}
