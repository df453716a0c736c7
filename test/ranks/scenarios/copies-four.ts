import type { Device } from '#lib/device/device.js';
import { bits32, fold, microbatches } from '../../support/fold.js';

const SETTINGS = ([0, 1, 2] as const).flatMap((zeroStage) =>
  (['microbatch', 'step'] as const).flatMap((correct) =>
    (['auto', 'exchange'] as const).map((path) => ({ zeroStage, correct, path })),
  ),
);

const GRADIENTS = [1, 3, 5, 9];

/** Experts that are not cut over every axis, of which each rank has a gradient of its own. */
export async function copiesOfExperts(device: Device) {
  const g = GRADIENTS[device.rank]!;
  const expert = { name: 'e', shape: [2, 200], family: 'expert' as const };
  const native = { name: 'n', shape: [2, 200], family: 'native-expert' as const };
  const ep = [{ axis: 'ep', dim: 0 }];
  const results: unknown[] = [];
  for (const setting of SETTINGS) {
    const seen: Record<string, number[]> = {};
    const trained: number[] = [];
    for (const [title, sizes, parameter] of [
      ['etp', { tp: 2, etp: 2 }, expert],
      ['ep', { ep: 4 }, expert],
      ['native etp', { native: { ep: 2, etp: 2 } }, { ...native, partition: ep }],
      ['native ep and etp', { native: { ep: 2, etp: 2 } }, native],
    ] as const) {
      using optimizer = await fold(device, sizes, [parameter], setting);
      await microbatches(optimizer, { [parameter.name]: g }, { [parameter.name]: g });
      await optimizer.reduce();
      const { values } = optimizer.shard(parameter.name, 'accumulated');
      seen[title] = [...new Set(values)];
      const { gradNorm } = await optimizer.step();
      seen[title].push(gradNorm);
      // The weights are whole on every rank, whatever the ZeRO stage.
      if (title !== 'native etp') trained.push(...optimizer.weight(parameter.name));
    }
    results.push({ seen, trained: bits32(Float32Array.from(trained)).join() });
  }
  return results;
}

/** The mirror of a copied expert's gradient is what was accumulated of it. */
export async function mirroredCopies(device: Device) {
  const mirrored: number[][] = [];
  for (const zeroStage of [0, 2] as const) {
    using optimizer = await fold(
      device,
      { tp: 2, etp: 2 },
      [{ name: 'e', shape: [2, 200], family: 'expert' }],
      { zeroStage, mirror: true, gradientType: 'float32' },
    );
    await microbatches(optimizer, { e: GRADIENTS[device.rank]! });
    mirrored.push([...new Set(optimizer.gradient('e'))]);
  }
  return mirrored;
}
