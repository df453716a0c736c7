import type { Device } from '#lib/device/device.js';
import type { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import type { ParameterSpec } from '#lib/parameters/parameter.js';
import { fold, type Options } from '../../support/fold.js';

/** An optimizer on one rank, of FP32 gradients unless said otherwise. */
export function alone(
  device: Device,
  parameters: readonly ParameterSpec[],
  options: Options = {},
): Promise<FoldedOptimizer> {
  return fold(device, {}, parameters, { gradientType: 'float32', ...options });
}
