import { toBFloat16 } from '../../device/bfloat16.js';
import type { Device } from '../../device/device.js';
import type { NormScalars } from '../../device/operations/norm.js';
import type { PreparedOperation, RunOfElements } from '../../device/operations/prepared.js';
import type { View } from '../../device/view.js';
import { adamw } from '../../update/adam.js';
import type { UpdateRule } from '../../update/rule.js';
import { sgd } from '../../update/sgd.js';
import { eighths, fill, PERIOD } from '../pattern.js';

export const MASTER = eighths(0);
export const GRADIENT = eighths(1);
export const LEARNING_RATE = 1e-3;
export const ADAMW_OPTIONS = {
  lr: LEARNING_RATE,
  betas: [0.9, 0.999],
  eps: 1e-8,
  weightDecay: 0.01,
} as const;

type Update = PreparedOperation<[learningRate: number, step: number]>;

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
  readonly accumulation: PreparedOperation<RunOfElements>;
  readonly normPartials: PreparedOperation;
  readonly finishNorm: PreparedOperation;
  readonly sgdUpdate: Update;
  readonly adamwUpdate: Update;

  constructor(device: Device, elements: number) {
    this.device = device;
    this.elements = elements;
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
    this.accumulation = device.prepareAccumulate({
      team: { communicator: device.world },
      path: 'direct',
      gradient: this.weight,
      accumulator: this.accumulator,
      scale: 0.5,
    });
    this.normPartials = device.prepareNormPartials({
      segments: [{ offset: 0, length: elements, group: 0, parameter: 0, counted: true }],
      groups: 1,
      kind: 'two',
      p: 2,
      arena: this.accumulator,
      partials: this.partials,
    });
    this.finishNorm = device.prepareFinishNorm({
      kind: 'two',
      p: 2,
      groups: 1,
      ranks: 1,
      maxNorm: maxNormOf(elements),
      gathered: this.partials,
      scalars: this.scalars,
    });
    this.sgdUpdate = this.#update(sgd({ lr: LEARNING_RATE }));
    this.adamwUpdate = this.#update(adamw(ADAMW_OPTIONS));
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
    const { accumulation, normPartials, finishNorm, sgdUpdate, adamwUpdate } = this;
    for (const operation of [accumulation, normPartials, finishNorm, sgdUpdate, adamwUpdate]) {
      operation.dispose();
    }
  }

  #update({ settings }: UpdateRule): Update {
    const { device, elements, master, accumulator, weight, moment1, moment2, scalars } = this;
    return device.prepareUpdate({
      settings,
      segments: [{ master: 0, accumulator: 0, weight: 0, length: elements, group: 0 }],
      clears: [],
      groups: 1,
      master,
      accumulator,
      weight,
      moment1,
      moment2,
      scalars,
    });
  }
}
