import type { Device } from '#lib/device/device.js';
import { bits32, fold, microbatches, write } from '../../support/fold.js';
import { type Refusal, refusal } from '../../support/refusal.js';

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

/** Loads of parameters that are cut, each wrong in one copy alone, on two tensor lanes by two data ranks. */
export async function loadsOfCopies(device: Device) {
  const experts = { shape: [2, 6], family: 'expert' as const };
  using optimizer = await fold(device, { tp: 2, ep: 2 }, [
    { name: 'dense', shape: [6], family: 'dense' },
    { name: 'lanes', shape: [6], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 0 }] },
    { name: 'owners', ...experts, partition: [{ axis: 'ep', dim: 0 }] },
    { name: 'none', shape: [0], family: 'dense' },
  ]);
  // Each rank's values say which elements they are of, so that ranks that hold no copies load others.
  const load = (wrong?: string, change: 'negated' | 'swapped' = 'negated') => {
    for (const parameter of optimizer.parameters) {
      const logical = Float32Array.from({ length: parameter.logicalSize }, (_, i) => i + 1);
      const [sign, rank] =
        parameter.name !== wrong
          ? [1, device.rank]
          : change === 'negated'
            ? [-1, device.rank]
            : [1, device.rank ^ 1];
      const local = parameter.slice(rank, logical);
      optimizer.load(
        parameter.name,
        local.map((value) => sign * value),
      );
    }
  };
  await microbatches(optimizer, { dense: 1, lanes: 1, owners: 1 });
  const refusals: Refusal[] = [];
  for (const [wrong, ranks, change] of [
    ['dense', [3], 'negated'],
    ['lanes', [2], 'negated'],
    // Two owners take each other's expert: what one has too much, the other has too little.
    ['owners', [2, 3], 'swapped'],
    ['owners', [1], 'negated'],
  ] as const) {
    const concerned = (ranks as readonly number[]).includes(device.rank);
    load(concerned ? wrong : undefined, change);
    refusals.push(await refusal(() => optimizer.step()));
  }
  load();
  await optimizer.step();
  return { refusals, steps: optimizer.stepCount };
}

/** What ranks of one pipeline stage differ in, those of the other are told. */
export async function otherStage(device: Device) {
  const name = device.rank < 2 ? 'first' : 'second';
  using optimizer = await fold(device, { pp: 2 }, [{ name, shape: [4], family: 'dense' }]);
  write(optimizer, { [name]: 1 });
  await optimizer.accumulate();
  if (device.rank === 3) await optimizer.accumulate();
  const counts = await refusal(() => optimizer.step());
  if (device.rank === 2) await optimizer.accumulate();
  optimizer.load(name, new Float32Array(4).fill(device.rank === 1 ? 1 : 2));
  const loads = await refusal(() => optimizer.step());
  optimizer.load(name, new Float32Array(4));
  return { counts, loads, gradNorm: (await optimizer.step()).gradNorm };
}
