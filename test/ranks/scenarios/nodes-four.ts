import type { Device } from '#lib/device/device.js';
import type { FoldstepError } from '#lib/errors.js';
import { bits32, fold, microbatches } from '../../support/fold.js';

/** Two ranks on each of two nodes. */
export const nodes = ['left', 'left', 'right', 'right'];

export async function places(device: Device) {
  return { node: device.node, localRank: device.localRank, localSize: device.localSize };
}

export async function pathsByPlace(device: Device) {
  const chosen: Record<string, string> = {};
  for (const tp of [2, 4]) {
    using optimizer = await fold(device, { tp }, [{ name: 'w', shape: [1000], family: 'dense' }]);
    chosen[tp] = optimizer.path;
  }
  return chosen;
}

export async function directAcrossNodes(device: Device) {
  try {
    await fold(device, { tp: 4 }, [{ name: 'w', shape: [8], family: 'dense' }], { path: 'direct' });
  } catch (error) {
    return (error as FoldstepError).code;
  }
  return 'none';
}

export async function sameBitsAsSharedMemory(device: Device) {
  const results: number[][] = [];
  for (const zeroStage of [0, 1, 2] as const) {
    for (const tp of [2, 4]) {
      using optimizer = await fold(
        device,
        { tp, ep: 4 },
        [
          { name: 'w', shape: [5000], family: 'dense' },
          { name: 'e', shape: [4, 70], family: 'expert', partition: [{ axis: 'ep', dim: 0 }] },
        ],
        { zeroStage },
      );
      optimizer.load(
        'w',
        Float32Array.from({ length: 5000 }, (_, i) => i / 5000),
      );
      await microbatches(optimizer, {
        w: Array.from({ length: 5000 }, (_, i) => Math.sin(i * (1 + device.rank))),
        e: Array.from({ length: 70 }, (_, i) => Math.cos(i * (1 + device.rank))),
      });
      const { gradNorm } = await optimizer.step();
      results.push([
        ...bits32(Float32Array.of(gradNorm)),
        ...optimizer.weight('w'),
        ...optimizer.weight('e'),
      ]);
    }
  }
  return results;
}
