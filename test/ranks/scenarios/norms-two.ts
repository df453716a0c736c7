import type { Device } from '#lib/device/device.js';
import { bits, fold, microbatches } from '../../support/fold.js';

const folded = { tp: 2, ep: 2 };
const expert = (name: string, perRank = 1) => ({
  name,
  shape: [2, perRank],
  family: 'expert' as const,
  partition: [{ axis: 'ep', dim: 0 }],
});

// A folded expert's gradient holds tp = 2 times its value.
const tp = 2;

export async function replicatedParameterCountsOnce(device: Device) {
  using optimizer = await fold(device, folded, [{ name: 'w', shape: [1], family: 'dense' }, expert('e')]);
  await microbatches(optimizer, { w: 1, e: tp });
  return (await optimizer.step()).gradNorm;
}

export async function squaresAreSummedOverRanks(device: Device) {
  using optimizer = await fold(device, folded, [expert('e', 2)]);
  await microbatches(optimizer, { e: device.rank === 0 ? [tp * 2, tp * 4] : [tp * 6, tp * 8] });
  return (await optimizer.step()).gradNorm;
}

export async function expertsAreSummedOverTheExpertGroup(device: Device) {
  using optimizer = await fold(device, folded, [{ name: 'w', shape: [1], family: 'dense' }, expert('e')]);
  await microbatches(optimizer, { w: 3, e: device.rank === 0 ? tp * 4 : tp * 12 });
  return (await optimizer.step()).gradNorm;
}

export async function sameBitsEverywhere(device: Device) {
  using optimizer = await fold(
    device,
    folded,
    [{ name: 'w', shape: [1000], family: 'dense' }, expert('e', 777)],
    { maxNorm: 0.7 },
  );
  const noise = (n: number, seed: number) => Array.from({ length: n }, (_, i) => Math.sin(seed + i * i));
  await microbatches(optimizer, { w: noise(1000, 1), e: noise(777, 2 + device.rank) });
  const { gradNorm, clipCoefficient } = await optimizer.step();
  return [bits(gradNorm), bits(clipCoefficient)];
}

export async function zeroGradients(device: Device) {
  using optimizer = await fold(device, folded, [{ name: 'w', shape: [5], family: 'dense' }], { maxNorm: 1 });
  await microbatches(optimizer, { w: 0 });
  const { gradNorm, clipCoefficient, skipped } = await optimizer.step();
  return { gradNorm, clipCoefficient, skipped };
}

export async function largeValues(device: Device) {
  using optimizer = await fold(device, { tp: 2 }, [{ name: 'w', shape: [2], family: 'dense' }], {
    gradientType: 'float32',
  });
  await microbatches(optimizer, { w: 1e20 });
  return (await optimizer.step()).gradNorm;
}

export async function rankWithoutParameters(device: Device) {
  const norms: number[] = [];
  for (const norm of [2, Number.POSITIVE_INFINITY]) {
    using optimizer = await fold(
      device,
      { pp: 2 },
      device.rank === 0 ? [{ name: 'w', shape: [2], family: 'dense' }] : [],
      { norm },
    );
    await microbatches(optimizer, device.rank === 0 ? { w: [3, 4] } : {});
    norms.push((await optimizer.step()).gradNorm);
  }
  return norms;
}

export async function updateReadsTheClippedGradient(device: Device) {
  const norms: number[] = [];
  for (const maxNorm of [2, 100]) {
    using optimizer = await fold(device, folded, [{ name: 'w', shape: [2], family: 'dense' }], {
      maxNorm,
      zeroStage: 0,
    });
    await microbatches(optimizer, { w: [3, 4] });
    await optimizer.step();
    norms.push(Math.hypot(...optimizer.shard('w', 'master').values));
  }
  return norms;
}

export async function groupsHaveNormsAndBoundsOfTheirOwn(device: Device) {
  using optimizer = await fold(
    device,
    folded,
    [
      { name: 'w', shape: [2], family: 'dense' },
      { ...expert('e'), normGroup: 'experts' },
    ],
    { maxNorm: 13, groupMaxNorms: { experts: 1 }, zeroStage: 0 },
  );
  await microbatches(optimizer, { w: [3, 4], e: device.rank === 0 ? tp * 12 : 0 });
  const { gradNorm, groupNorms, groupCoefficients, clipCoefficient } = await optimizer.step();
  return {
    gradNorm,
    groupNorms,
    groupCoefficients,
    clipCoefficient,
    moved: [...optimizer.shard('w', 'master').values, ...optimizer.shard('e', 'master').values],
  };
}
