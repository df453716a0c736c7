import { toBFloat16 } from '../../device/bfloat16.js';
import type { Device } from '../../device/device.js';
import type { Team } from '../../device/fold.js';
import type { NormPlan, NormScalars, UpdatePlan } from '../../device/plans.js';
import type { View } from '../../device/view.js';
import { eighths, fill, PERIOD } from '../pattern.js';

export const MASTER = eighths(0);
export const GRADIENT = eighths(1);

/** Clips to half, whatever the size. */
export function maxNormOf(elements: number): number {
  return gradientNorm(elements) / 2;
}

/** The norm of the gradient, in FP64. */
export function gradientNorm(elements: number): number {
  let sum = 0;
  for (const [k, value] of GRADIENT.entries()) {
    sum += value * value * (Math.floor(elements / PERIOD) + Number(k < elements % PERIOD));
  }
  return Math.sqrt(sum);
}

/** One rank's arenas for an optimizer step over one run of elements. */
export class Workbench {
  readonly device: Device;
  readonly elements: number;
  readonly master: View<'float32'>;
  readonly accumulator: View<'float32'>;
  readonly moment1: View<'float32'>;
  readonly moment2: View<'float32'>;
  readonly weight: View<'bfloat16'>;
  /** What the accumulator is refilled from. */
  readonly gradient: View<'float32'>;
  readonly partials: View<'float64'>;
  readonly scalars: View<'float64'>;
  readonly places: NormScalars;
  readonly normPlan: NormPlan;
  readonly updatePlan: UpdatePlan;
  /** This rank and no other. */
  readonly alone: Team;

  constructor(device: Device, elements: number) {
    this.device = device;
    this.elements = elements;
    this.alone = { communicator: device.world };
    const fp32 = (): View<'float32'> => device.allocate(4 * elements).view('float32');
    this.master = fp32();
    this.accumulator = fp32();
    this.moment1 = fp32();
    this.moment2 = fp32();
    this.gradient = fp32();
    this.weight = device.allocate(2 * elements).view('bfloat16');
    this.places = device.normScalars(1);
    this.partials = device.allocate(8 * this.places.partialsLength).view('float64');
    this.scalars = device.allocate(8 * this.places.length).view('float64');
    this.normPlan = device.createNormPlan(
      [{ offset: 0, length: elements, group: 0, parameter: 0, counted: true }],
      1,
    );
    this.updatePlan = device.createUpdatePlan(
      [{ master: 0, accumulator: 0, weight: 0, length: elements, group: 0 }],
      [],
      1,
    );
    fill(this.gradient, GRADIENT);
  }

  /** Before a first step: master, gradient and weight as they begin, no moments. Enqueues some of it. */
  reset(): void {
    fill(this.master, MASTER);
    fill(this.weight, toBFloat16(MASTER));
    this.refill();
    this.device.zero(this.moment1);
    this.device.zero(this.moment2);
  }

  /** Enqueues putting the gradient back that a step has cleared. */
  refill(): void {
    this.device.copy(this.gradient, this.accumulator);
  }

  dispose(): void {
    const { master, accumulator, moment1, moment2, gradient, weight, partials, scalars } = this;
    for (const view of [master, accumulator, moment1, moment2, gradient, weight, partials, scalars]) {
      view.buffer.dispose();
    }
    this.normPlan.dispose();
    this.updatePlan.dispose();
  }
}
