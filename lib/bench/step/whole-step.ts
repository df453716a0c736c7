import { toBFloat16 } from '../../device/bfloat16.js';
import type { Device } from '../../device/device.js';
import { Mesh } from '../../mesh/mesh.js';
import { FoldedOptimizer } from '../../optimizer/folded-optimizer.js';
import { adamw } from '../../update/adam.js';
import { type CallCounts, timeCalls } from '../measure.js';
import { checkValue, repeat } from '../pattern.js';
import { GRADIENT, gradientNorm } from './workbench.js';

/** An optimizer of one rank over `parameters` dense parameters of `size` elements, gradients filled. */
export async function modelOf(device: Device, parameters: number, size: number): Promise<FoldedOptimizer> {
  const optimizer = await FoldedOptimizer.create({
    device,
    mesh: new Mesh({ world: 1 }),
    parameters: Array.from({ length: parameters }, (_, index) => ({
      name: `layers.${index}.weight`,
      shape: [size],
      family: 'dense',
    })),
    update: adamw({ lr: 1e-3, weightDecay: 0.01 }),
    maxNorm: 1,
  });
  const gradient = toBFloat16(GRADIENT);
  for (const { name } of optimizer.parameters) repeat(optimizer.gradient(name) as Uint16Array, gradient);
  return optimizer;
}

/** Milliseconds of each whole `step()` of a model of many parameters: norm, clip, update, clearing. */
export async function timeWholeStep(
  device: Device,
  counts: CallCounts,
  parameters: number,
  size: number,
): Promise<number[]> {
  const optimizer = await modelOf(device, parameters, size);
  try {
    await optimizer.accumulate();
    const { gradNorm } = await optimizer.step();
    checkValue('the norm of a whole step', gradNorm, gradientNorm(size) * Math.sqrt(parameters), 1e-12);
    const cleared = optimizer.shard(optimizer.parameters[0]!.name, 'accumulated').values;
    checkValue('an accumulator after a whole step', cleared[0]!, 0, 0);
    return await timeCalls(
      counts,
      () => optimizer.step(),
      () => optimizer.accumulate(),
    );
  } finally {
    optimizer.dispose();
  }
}
