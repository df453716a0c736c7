import { toBFloat16 } from '../../device/bfloat16.js';
import { checkPeriodic, checkValue } from '../pattern.js';
import { ADAMW_OPTIONS, GRADIENT, gradientNorm, LEARNING_RATE, MASTER, type Workbench } from './workbench.js';

/** One pass over the arenas. */
export interface Operation {
  /** Read and written, for each element. */
  readonly bytesPerElement: number;
  /** Enqueues one call. */
  enqueue(bench: Workbench): void;
  /** Enqueues, untimed, what a call needs. */
  prepare(bench: Workbench): void;
  /** After one call on a bench that was reset. Throws BenchmarkFailure. */
  check(bench: Workbench): void;
}

export const OPERATIONS = {
  copy: {
    bytesPerElement: 8,
    enqueue: ({ device, gradient, accumulator }) => device.copy(gradient, accumulator),
    prepare: () => {},
    check: ({ accumulator }) => checkPeriodic('the copy', accumulator.read(), GRADIENT, 0),
  },
  'cast-to-fp32': {
    bytesPerElement: 6,
    enqueue: ({ device, weight, moment1 }) => device.cast(weight, moment1),
    prepare: () => {},
    check: ({ moment1 }) => checkPeriodic('the cast to FP32', moment1.read(), MASTER, 0),
  },
  'cast-to-bf16': {
    bytesPerElement: 6,
    enqueue: ({ device, gradient, weight }) => device.cast(gradient, weight),
    prepare: () => {},
    check: ({ weight }) => checkPeriodic('the cast to BF16', weight.read(), toBFloat16(GRADIENT), 0),
  },
  accumulate: {
    bytesPerElement: 10,
    enqueue: ({ accumulation }) => accumulation.enqueue(),
    prepare: () => {},
    check({ accumulator }) {
      const expected = GRADIENT.map((value, k) => value + 0.5 * MASTER[k]!);
      checkPeriodic('what was accumulated', accumulator.read(), expected, 0);
    },
  },
  norm: {
    bytesPerElement: 4,
    enqueue: enqueueNorm,
    prepare: () => {},
    check({ scalars, places, elements }) {
      checkValue('the norm', scalars.read()[places.norm]!, gradientNorm(elements), 1e-12);
    },
  },
  sgd: {
    bytesPerElement: 18,
    enqueue: ({ device, sgdUpdate }) => sgdUpdate.enqueue(device.stream, LEARNING_RATE, 1),
    prepare: prepareUpdate,
    check: (bench) => checkUpdate('SGD', bench, (master, clipped) => master - LEARNING_RATE * clipped),
  },
  adamw: {
    bytesPerElement: 34,
    enqueue: ({ device, adamwUpdate }) => adamwUpdate.enqueue(device.stream, LEARNING_RATE, 1),
    prepare: prepareUpdate,
    // The first step's corrected moments are the gradient and its square.
    check: (bench) =>
      checkUpdate('AdamW', bench, (master, clipped) => {
        const { weightDecay, eps } = ADAMW_OPTIONS;
        const decayed = master * (1 - LEARNING_RATE * weightDecay);
        return decayed - (LEARNING_RATE * clipped) / (Math.abs(clipped) + eps);
      }),
  },
} as const satisfies Record<string, Operation>;

function enqueueNorm({ normPartials, finishNorm }: Workbench): void {
  normPartials.enqueue();
  finishNorm.enqueue();
}

/** A gradient, and its norm for the clipping: what a step clears, and what it is clipped by. */
function prepareUpdate(bench: Workbench): void {
  bench.refill();
  enqueueNorm(bench);
}

function checkUpdate(
  what: string,
  { master, weight, accumulator, scalars, places }: Workbench,
  update: (master: number, clipped: number) => number,
): void {
  const coefficient = scalars.read()[places.coefficient(0)]!;
  checkValue(`${what}'s clip coefficient`, coefficient, 0.5, 1e-6);
  const expected = MASTER.map((value, k) => update(value, coefficient * GRADIENT[k]!));
  const updated = master.read();
  checkPeriodic(`${what}'s master`, updated, expected, 1e-6);
  const rounded = toBFloat16(updated.subarray(0, MASTER.length));
  checkPeriodic(`${what}'s weight`, weight.read(), rounded, 0);
  checkPeriodic(`${what}'s accumulator`, accumulator.read(), new Float32Array(MASTER.length), 0);
}
