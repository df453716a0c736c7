import type { FoldPath } from '../../device/operations/team.js';
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
  const operation = device.prepareAccumulate({ team, path, gradient, accumulator, scale, mirror });
  return {
    enqueue: () => operation.enqueue(),
    rounded: false,
    mirrors: mirror,
    stagingBytes: 0,
    dispose: () => operation.dispose(),
  };
}

/** All-reduce in FP32, round to BF16 over the gradient, widen, add. What is staged is kept from call to call. */
function bf16RoundTrip({ device, gradient, accumulator, scale, alone, elements }: Lanes): Way {
  const buffer = device.allocate(6 * elements);
  const sum = buffer.view('float32', 0, elements);
  const rounded = buffer.view('bfloat16', 4 * elements, elements);
  const average = device.prepareReduce({ team: alone, path: 'direct', data: sum, scale });
  const add = device.prepareAccumulate({ team: alone, path: 'direct', gradient, accumulator });
  return {
    enqueue() {
      device.cast(gradient, sum);
      device.world.enqueueAllReduce(sum);
      average.enqueue();
      device.cast(sum, rounded);
      device.copy(rounded, gradient);
      add.enqueue();
    },
    rounded: true,
    mirrors: true,
    stagingBytes: buffer.bytes,
    dispose() {
      average.dispose();
      add.dispose();
      buffer.dispose();
    },
  };
}

/** All-reduce in FP32, add what it gives. */
function fp32Staging({ device, gradient, accumulator, scale, alone, elements, mirror }: Lanes): Way {
  const buffer = device.allocate(4 * elements);
  const sum = buffer.view('float32');
  const average = device.prepareReduce({ team: alone, path: 'direct', data: sum, scale });
  const add = device.prepareAccumulate({ team: alone, path: 'direct', gradient: sum, accumulator });
  return {
    enqueue() {
      device.cast(gradient, sum);
      device.world.enqueueAllReduce(sum);
      average.enqueue();
      add.enqueue();
      if (mirror) device.cast(sum, gradient);
    },
    rounded: false,
    mirrors: mirror,
    stagingBytes: buffer.bytes,
    dispose() {
      average.dispose();
      add.dispose();
      buffer.dispose();
    },
  };
}
