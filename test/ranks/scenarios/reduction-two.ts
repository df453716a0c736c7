import type { Device } from '#lib/device/device.js';
import { bits32, fold, microbatches, reduced, write } from '../../support/fold.js';

const EVERY = ([0, 1, 2] as const).flatMap((zeroStage) =>
  (['microbatch', 'step'] as const).map((correct) => ({ zeroStage, correct })),
);
const PATHS = ['direct', 'owner', 'exchange', 'library'] as const;

/** Every combination of ZeRO stage, time of correction and path. */
const SETTINGS = EVERY.flatMap((setting) => PATHS.map((path) => ({ ...setting, path })));

const folded = { tp: 2, ep: 2 };
const expert = (name: string, perExpert = 4) => ({
  name,
  shape: [2, perExpert],
  family: 'expert' as const,
  partition: [{ axis: 'ep', dim: 0 }],
});

export async function unequalMicrobatches(device: Device) {
  const results: number[][] = [];
  for (const setting of SETTINGS) {
    using optimizer = await fold(
      device,
      folded,
      [{ name: 'router', shape: [16], family: 'router' }, expert('e')],
      setting,
    );
    const lane = device.rank;
    await microbatches(
      optimizer,
      { router: lane === 0 ? 2 : 4, e: 4 },
      { router: lane === 0 ? 6 : 10, e: 8 },
    );
    results.push([...new Set([...(await reduced(optimizer, 'router')), ...(await reduced(optimizer, 'e'))])]);
  }
  return results;
}

export async function partialAndReplicated(device: Device) {
  const results: { lanes: number[]; bits: number[] }[] = [];
  for (const setting of SETTINGS) {
    using optimizer = await fold(
      device,
      { tp: 2 },
      [
        { name: 'partial', shape: [3], family: 'router-partial' },
        { name: 'replicated', shape: [3], family: 'router' },
        { name: 'norm', shape: [3], family: 'sequence-norm' },
      ],
      { ...setting, sequenceParallel: true },
    );
    const lane = device.rank;
    await microbatches(optimizer, { partial: lane + 1, replicated: 2 * (lane + 1), norm: lane + 1 });
    await optimizer.reduce();
    const held = ['partial', 'replicated', 'norm'].map((name) => optimizer.shard(name, 'accumulated').values);
    results.push({ lanes: held.flatMap((v) => [...v]), bits: held.flatMap(bits32) });
  }
  return results;
}

export async function sequenceNormWithoutSequenceParallelism(device: Device) {
  using optimizer = await fold(device, { tp: 2 }, [{ name: 'norm', shape: [1], family: 'sequence-norm' }]);
  await microbatches(optimizer, { norm: 3 });
  return await reduced(optimizer, 'norm');
}

export async function lastMicrobatchBeforeTheReduction(device: Device) {
  const results: number[][] = [];
  for (const setting of SETTINGS) {
    using optimizer = await fold(device, {}, [{ name: 'w', shape: [256], family: 'dense' }], setting);
    // Rank 0's micro-batches add up to 1, rank 1's to 3.
    const batches = device.rank === 0 ? [0, 1] : [1, 2];
    await microbatches(optimizer, ...batches.map((w) => ({ w })));
    results.push([...new Set(await reduced(optimizer, 'w'))]);
  }
  return results;
}

export async function everyMicrobatchSurvives(device: Device) {
  const results: number[][] = [];
  const batches = [1, 2, 4, 8, 16];
  for (const setting of SETTINGS) {
    // edp 2 and dp 2; then edp 1; then dp 1.
    for (const [mesh, tp, copies] of [
      [{}, 1, 1] as const,
      [{ ep: 2 }, 1, 2] as const,
      [folded, 2, 1] as const,
    ]) {
      using optimizer = await fold(
        device,
        mesh,
        [{ name: 'w', shape: [300], family: 'dense' }, expert('e', 150)],
        setting,
      );
      await microbatches(optimizer, ...batches.map((g) => ({ w: g, e: g * tp * copies })));
      results.push([...new Set([...(await reduced(optimizer, 'w')), ...(await reduced(optimizer, 'e'))])]);
    }
  }
  return results;
}

export async function nothingIsLeftAfterAStep(device: Device) {
  const results: unknown[] = [];
  for (const setting of SETTINGS) {
    using optimizer = await fold(
      device,
      {},
      [{ name: 'w', shape: [300], family: 'dense' }, expert('e')],
      setting,
    );
    await microbatches(optimizer, { w: 7, e: 7 });
    await optimizer.step();
    await microbatches(optimizer, { w: 1, e: 1 });
    const values = [...new Set([...(await reduced(optimizer, 'w')), ...(await reduced(optimizer, 'e'))])];
    const { gradNorm } = await optimizer.step();
    results.push([values, gradNorm]);
  }
  return results;
}

export async function namedInAnyOrderOrAllAtOnce(device: Device) {
  const names = ['a', 'router', 'e', 'b'];
  const specs = [
    { name: 'a', shape: [129], family: 'dense' as const },
    { name: 'router', shape: [77], family: 'router' as const },
    expert('e'),
    { name: 'b', shape: [5], family: 'dense' as const },
  ];
  const gradients = Object.fromEntries(
    specs.map(({ name, shape }, k) => [
      name,
      Array.from({ length: name === 'e' ? 4 : shape[0]! }, (_, i) => Math.sin(i * (k + 2) + device.rank)),
    ]),
  );
  const results: boolean[] = [];
  for (const setting of SETTINGS) {
    using whole = await fold(device, folded, specs, setting);
    await microbatches(whole, gradients);
    await whole.reduce();
    using parts = await fold(device, folded, specs, setting);
    write(parts, gradients);
    // Not awaited one by one, and the producer is late.
    const first = parts.accumulate(['b', 'a']);
    await new Promise((resolve) => setTimeout(resolve, device.rank * 5));
    await Promise.all([first, parts.accumulate(['e']), parts.accumulate(['router'])]);
    await parts.reduce();
    results.push(
      names.every(
        (name) =>
          bits32(whole.shard(name, 'accumulated').values).join() ===
          bits32(parts.shard(name, 'accumulated').values).join(),
      ),
    );
  }
  return results;
}

export async function emptyAndOddShapes(device: Device) {
  const results: number[] = [];
  for (const setting of SETTINGS) {
    using optimizer = await fold(
      device,
      {},
      [
        { name: 'eight', shape: [8], family: 'dense' },
        { name: 'none', shape: [0], family: 'dense' },
        { name: 'more', shape: [24], family: 'dense' },
      ],
      setting,
    );
    await microbatches(optimizer, { eight: 2, none: [], more: 2 });
    results.push((await optimizer.step()).gradNorm);
  }
  return results;
}

export async function midpointOnEveryPath(device: Device) {
  const results: unknown[] = [];
  for (const path of PATHS) {
    using optimizer = await fold(device, { tp: 2 }, [{ name: 'w', shape: [100], family: 'dense' }], { path });
    await microbatches(optimizer, { w: device.rank === 0 ? 1 : 1.0078125 });
    results.push([...new Set(await reduced(optimizer, 'w'))]);
  }
  return results;
}

export async function accumulationInBfloat16(device: Device) {
  const sums: number[] = [];
  for (const [accumulate, value, times] of [
    ['fp32', 1, 512],
    ['bf16', 1, 512],
    ['fp32', 0.001, 1000],
    ['bf16', 0.001, 1000],
  ] as const) {
    using optimizer = await fold(device, { tp: 2 }, [{ name: 'w', shape: [1], family: 'dense' }], {
      accumulate,
    });
    write(optimizer, { w: value });
    for (let i = 0; i < times; i++) await optimizer.accumulate();
    sums.push(optimizer.shard('w', 'accumulated').values[0]!);
  }
  return sums;
}

export async function floatGradientsTakeTheSamePaths(device: Device) {
  const results: number[][] = [];
  for (const setting of SETTINGS) {
    using optimizer = await fold(device, { tp: 2 }, [{ name: 'w', shape: [65], family: 'dense' }], {
      ...setting,
      gradientType: 'float32',
    });
    // Not to be had in BF16.
    await microbatches(optimizer, { w: device.rank === 0 ? 1 + 2 ** -20 : 1 });
    results.push([...new Set(await reduced(optimizer, 'w'))]);
  }
  return results;
}

export async function mirroredGradients(device: Device) {
  const results: Record<string, unknown>[] = [];
  for (const zeroStage of [0, 1, 2] as const) {
    for (const path of PATHS) {
      using optimizer = await fold(
        device,
        folded,
        [
          { name: 'w', shape: [130], family: 'dense' },
          { name: 's', shape: [2], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 0 }] },
          expert('e'),
        ],
        { zeroStage, path, mirror: true },
      );
      await microbatches(optimizer, { w: device.rank === 0 ? 1 : 1.0078125, s: 5, e: 3 });
      const seen = (name: string) => [...new Set(optimizer.gradient(name))].map((b) => b.toString(16));
      results.push({
        w: seen('w'),
        s: seen('s'),
        e: seen('e'),
        accumulated: [...new Set(optimizer.shard('w', 'accumulated').values)],
      });
    }
  }
  return results;
}

export async function gradientsAreLeftAloneWithoutMirror(device: Device) {
  const results: string[][] = [];
  for (const path of PATHS) {
    using optimizer = await fold(device, { tp: 2 }, [{ name: 'w', shape: [130], family: 'dense' }], { path });
    await microbatches(optimizer, { w: device.rank === 0 ? 1 : 1.0078125 });
    results.push([...new Set(optimizer.gradient('w'))].map((b) => b.toString(16)));
  }
  return results;
}

/** Every weight after two steps of AdamW, at each ZeRO stage; data ranks and tensor lanes in turn. */
export async function weightsByZeroStage(device: Device) {
  const { adamw } = await import('#lib/update/adam.js');
  const results: number[][] = [];
  for (const mesh of [{}, folded]) {
    for (const correct of ['microbatch', 'step'] as const) {
      for (const zeroStage of [0, 1, 2] as const) {
        using optimizer = await fold(
          device,
          mesh,
          [{ name: 'w', shape: [3001], family: 'dense' }, expert('e', 999)],
          {
            zeroStage,
            correct,
            update: adamw({ lr: 0.01, weightDecay: 0.1 }),
          },
        );
        optimizer.load(
          'w',
          Float32Array.from({ length: 3001 }, (_, i) => Math.sin(i)),
        );
        for (let step = 0; step < 2; step++) {
          const noise = (n: number, k: number) =>
            Array.from({ length: n }, (_, i) => Math.sin(i * k + step + device.rank));
          await microbatches(
            optimizer,
            { w: noise(3001, 2), e: noise(optimizer.gradient('e').length, 3) },
            { w: noise(3001, 5), e: noise(optimizer.gradient('e').length, 7) },
          );
          await optimizer.step();
        }
        results.push([...optimizer.weight('w'), ...optimizer.weight('e')]);
      }
    }
  }
  return results;
}
