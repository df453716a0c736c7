import type { GroupCollectives } from 'foldstep/parallel';
import type { Value } from '../autodiff/tape.ts';
import { tensor } from '../autodiff/tensor.ts';
import type { Pass } from './pass.ts';

// The tensor lanes hold the same activations, bit for bit, outside of what is cut over them.

/** Partial sums of the lanes to their sum on every lane; its gradient is already the same on every lane. */
export async function sumOverLanes(pass: Pass, lanes: GroupCollectives, value: Value): Promise<Value> {
  const summed = await lanes.allReduce(value.data.slice());
  return pass.one([value], tensor(value.shape, summed), ([gradient]) => [gradient!.data]);
}

/** Into weights that are cut over the lanes: each lane's gradient is a part of the whole. */
export function copyToLanes(pass: Pass, lanes: GroupCollectives, value: Value): Value {
  return pass.one([value], value.tensor, async ([gradient]) => [
    await lanes.allReduce(gradient!.data.slice()),
  ]);
}

/**
 * Two copies: into weights that are cut over the lanes, and into the routed experts, whose gradient on each lane is `tp`
 * times that lane's part (the backward pass of `restore` sums over the lanes). One sum serves both.
 */
export function forkToLanes(pass: Pass, lanes: GroupCollectives, value: Value): [cut: Value, routed: Value] {
  const [cut, routed] = pass.tape.record([value], [value.tensor, value.tensor], async ([ofCut, ofRouted]) => {
    const parts = ofCut!.data.slice();
    for (let i = 0; i < parts.length; i++) parts[i]! += ofRouted!.data[i]! / lanes.size;
    return [await lanes.allReduce(parts)];
  });
  return [cut!, routed!];
}
