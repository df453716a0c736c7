import type { Device } from '#lib/device/device.js';
import { bits, fold, microbatches } from '../../support/fold.js';

/** NUMERICS' vector, on eight ranks: dense 1, shards 1 and 2, experts 10(e+1)+t, and a bias copied over etp. */
export async function everyFamily(device: Device) {
  const norms: Record<string, number[]> = {};
  for (const zeroStage of [0, 1, 2] as const) {
    norms[zeroStage] = [];
    for (const norm of [2, 1, 3, Number.POSITIVE_INFINITY]) {
      using optimizer = await fold(
        device,
        { tp: 2, ep: 2, etp: 2 },
        [
          { name: 'norm', shape: [1], family: 'dense' },
          { name: 'attn', shape: [2], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 0 }] },
          {
            name: 'experts',
            shape: [2, 2],
            family: 'expert',
            partition: [
              { axis: 'ep', dim: 0 },
              { axis: 'etp', dim: 1 },
            ],
          },
          { name: 'bias', shape: [2, 1], family: 'expert', partition: [{ axis: 'ep', dim: 0 }] },
        ],
        { norm, zeroStage },
      );
      const { tp } = { tp: device.rank % 2 };
      const etp = device.rank % 2;
      const e = Math.floor(device.rank / 2) % 2;
      // tp times the sum over the expert group's tokens: the two data ranks' mean is the value, so each edp copy of the
      // dense width 4 must bring 4 / 2 of it.
      const folded = (value: number) => (2 * value * 4) / 2;
      await microbatches(optimizer, {
        norm: 1,
        attn: 1 + tp,
        experts: folded(10 * (e + 1) + etp),
        bias: folded(e + 1),
      });
      norms[zeroStage]!.push((await optimizer.step()).gradNorm);
    }
  }
  return norms;
}

/** One logical gradient cut over 1, 2 and 4 tensor lanes. */
export async function anyNumberOfLanes(device: Device) {
  const logical = Array.from({ length: 64 }, (_, i) => ((i * 37) % 64) / 16 - 2);
  const norms: number[] = [];
  for (const tp of [1, 2, 4, 8]) {
    using optimizer = await fold(device, { tp }, [
      { name: 'w', shape: [64], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 0 }] },
      { name: 'b', shape: [64], family: 'dense' },
    ]);
    const lane = device.rank % tp;
    const part = 64 / tp;
    await microbatches(optimizer, { w: logical.slice(lane * part, (lane + 1) * part), b: logical });
    norms.push((await optimizer.step()).gradNorm);
  }
  return norms;
}

/** Values whose tenth powers overflow or vanish in FP64. */
export async function extremeValuesAtPTen(device: Device) {
  const norms: number[] = [];
  for (const value of [1e37, 1e-38]) {
    using optimizer = await fold(device, {}, [{ name: 'w', shape: [16], family: 'dense' }], {
      norm: 10,
      gradientType: 'float32',
    });
    await microbatches(optimizer, { w: value });
    norms.push((await optimizer.step()).gradNorm / value);
  }
  return norms;
}

export async function sameBits(device: Device) {
  using optimizer = await fold(
    device,
    { tp: 4, ep: 8 },
    [
      { name: 'w', shape: [333], family: 'dense' },
      { name: 'e', shape: [8, 77], family: 'expert', partition: [{ axis: 'ep', dim: 0 }] },
    ],
    { norm: 3 },
  );
  await microbatches(optimizer, {
    w: Array.from({ length: 333 }, (_, i) => Math.sin(i + device.rank)),
    e: Array.from({ length: 77 }, (_, i) => Math.cos(i * device.rank)),
  });
  return bits((await optimizer.step()).gradNorm);
}
