import type { FoldPath } from '../../device/fold.js';
import type { Lanes } from './lanes.js';
import type { WayName } from './result.js';

/** One way over the boundary. */
export interface Way {
  /** Enqueues one call. */
  enqueue(): void;
  /** Whether it goes through BF16 between the gradients and the accumulator. */
  readonly rounded: boolean;
  /** Whether the gradients hold the average afterwards. */
  readonly mirrors: boolean;
  /** Bytes that it stages in and the ledger does not know of, since they are a caller's. */
  readonly stagingBytes: number;
  dispose(): void;
}

/** In the order of the table: the ancestors first. */
export const WAYS: Readonly<Record<WayName, (lanes: Lanes) => Way>> = {
  'bf16-round-trip': bf16RoundTrip,
  'fp32-staging': fp32Staging,
  library: (lanes) => folded(lanes, 'library'),
  exchange: (lanes) => folded(lanes, 'exchange'),
  owner: (lanes) => folded(lanes, 'owner'),
  direct: (lanes) => folded(lanes, 'direct'),
};

function folded(lanes: Lanes, path: FoldPath): Way {
  const { device, gradient, accumulator, scale, mirror } = lanes;
  const team = path === 'direct' || path === 'owner' ? lanes.together : lanes.apart;
  return {
    enqueue: () => device.accumulate(team, { path, gradient, accumulator, scale, mirror }),
    rounded: false,
    mirrors: mirror,
    stagingBytes: 0,
    dispose: () => {},
  };
}

/** All-reduce in FP32, round to BF16 over the gradient, widen, add. What is staged is kept from call to call. */
function bf16RoundTrip({ device, gradient, accumulator, scale, alone, elements }: Lanes): Way {
  const buffer = device.allocate(6 * elements);
  const sum = buffer.view('float32', 0, elements);
  const rounded = buffer.view('bfloat16', 4 * elements, elements);
  return {
    enqueue() {
      device.cast(gradient, sum);
      device.world.enqueueAllReduce(sum);
      device.reduce(alone, { path: 'direct', data: sum, scale });
      device.cast(sum, rounded);
      device.copy(rounded, gradient);
      device.accumulate(alone, { path: 'direct', gradient, accumulator });
    },
    rounded: true,
    mirrors: true,
    stagingBytes: buffer.bytes,
    dispose: () => buffer.dispose(),
  };
}

/** All-reduce in FP32, add what it gives. */
function fp32Staging({ device, gradient, accumulator, scale, alone, elements, mirror }: Lanes): Way {
  const buffer = device.allocate(4 * elements);
  const sum = buffer.view('float32');
  return {
    enqueue() {
      device.cast(gradient, sum);
      device.world.enqueueAllReduce(sum);
      device.reduce(alone, { path: 'direct', data: sum, scale });
      device.accumulate(alone, { path: 'direct', gradient: sum, accumulator });
      if (mirror) device.cast(sum, gradient);
    },
    rounded: false,
    mirrors: mirror,
    stagingBytes: buffer.bytes,
    dispose: () => buffer.dispose(),
  };
}
