import { FoldstepError } from '../errors.js';
import type { Communicator, ReduceOp } from './communicator.js';
import type { Device } from './device.js';
import type { DType } from './dtype.js';

// Each call allocates and frees its own memory: this is for a few numbers now and then. What runs
// in every step keeps a `Staged` instead.

type SmallArray = Float64Array | Float32Array | Int32Array | Uint8Array;

/**
 * Reduces arrays of JavaScript over the members: element i of the result is the sum, or what `op`
 * says, of element i of every member's `values`. The result is a new array, with the same bits on
 * every member. Collective; all members give as many elements, of one type. Rejects as
 * `Communicator.allReduce` does, and with OUT_OF_MEMORY.
 */
export async function reduceArrays<Values extends SmallArray>(
  device: Device,
  communicator: Communicator,
  values: Values,
  op: ReduceOp = 'sum',
): Promise<Values> {
  const buffer = device.allocate(values.byteLength);
  try {
    const view = buffer.view(dtypeOf(values), 0, values.length);
    view.write(values as never);
    await communicator.allReduce(view, op);
    return view.read() as unknown as Values;
  } finally {
    buffer.dispose();
  }
}

/**
 * Resolves with every member's `values`, in member order. Collective; all members give as many
 * elements, of one type. Rejects as `Communicator.allGather` does, and with OUT_OF_MEMORY.
 */
export async function gatherArrays<Values extends SmallArray>(
  device: Device,
  communicator: Communicator,
  values: Values,
): Promise<Values[]> {
  const { size } = communicator;
  const { length, byteLength } = values;
  const buffer = device.allocate(byteLength * (size + 1));
  try {
    const own = buffer.view(dtypeOf(values), 0, length);
    const all = buffer.view(dtypeOf(values), byteLength, length * size);
    own.write(values as never);
    await communicator.allGather(own, all);
    const gathered = all.read() as unknown as Values;
    return Array.from(
      { length: size },
      (_, member) => gathered.subarray(member * length, (member + 1) * length) as Values,
    );
  } finally {
    buffer.dispose();
  }
}

/**
 * Resolves with every member's text, in member order. Collective; the texts may be of any length.
 */
export async function gatherTexts(
  device: Device,
  communicator: Communicator,
  text: string,
): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const counts = await gatherArrays(device, communicator, Float64Array.of(bytes.length));
  const padded = new Uint8Array(Math.max(1, ...counts.map(([count]) => count!)));
  padded.set(bytes);
  const decoder = new TextDecoder();
  const gathered = await gatherArrays(device, communicator, padded);
  const texts = gathered.map((each, member) => decoder.decode(each.subarray(0, counts[member]![0])));
  if (texts[communicator.rank] === text) return texts;
  throw new FoldstepError('INTERNAL', 'a gathered text came back changed');
}

function dtypeOf(values: SmallArray): DType {
  if (values instanceof Float64Array) return 'float64';
  if (values instanceof Float32Array) return 'float32';
  return values instanceof Int32Array ? 'int32' : 'uint8';
}
