import { toBFloat16 } from '#lib/device/bfloat16.js';
import type { Device } from '#lib/device/device.js';
import type { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import { adamw } from '#lib/update/adam.js';
import { fold, type Options, write } from '../../support/fold.js';
import { refusal } from '../../support/refusal.js';

const w = (name: string, size = 4) => ({ name, shape: [size], family: 'dense' as const });

/** Meshes and options with which a rank can accumulate without the other: nothing is reduced before the step. */
const APART = [
  { tp: 1, zeroStage: 0, correct: 'microbatch' },
  { tp: 1, zeroStage: 1, correct: 'step' },
  { tp: 2, zeroStage: 0, correct: 'step' },
  { tp: 2, zeroStage: 1, correct: 'step' },
  { tp: 2, zeroStage: 2, correct: 'step' },
] as const;

/** Rank 1 accumulates a gradient of 1 twice where rank 0 does once, until rank 0 has done so too. */
export async function unequalCounts(device: Device) {
  const results: unknown[] = [];
  for (const { tp, ...options } of APART) {
    using optimizer = await fold(device, { tp }, [w('gate.weight'), w('b'), w('none', 0)], options);
    write(optimizer, { 'gate.weight': 1, b: 0 });
    await optimizer.accumulate();
    if (device.rank === 1) await optimizer.accumulate(['gate.weight', 'gate.weight']);
    const refusals = [await refusal(() => optimizer.step()), await refusal(() => optimizer.reduce())];
    const untouched = optimizer.stepCount;
    if (device.rank === 0) await optimizer.accumulate(['gate.weight']);
    const { gradNorm } = await optimizer.step();
    results.push({ refusals, untouched, gradNorm });
  }
  return results;
}

/** What one rank alone finds wrong stops both. */
export async function objections(device: Device) {
  using optimizer = await fold(device, {}, [w('a'), w('b')]);
  write(optimizer, { a: 1, b: 1 });
  await optimizer.accumulate(device.rank === 0 ? ['a', 'b'] : ['a']);
  const refusals = [await refusal(() => optimizer.step()), await refusal(() => optimizer.reduce())];
  if (device.rank === 1) await optimizer.accumulate(['b']);
  optimizer.learningRate = device.rank === 0 ? Number.NaN : 1;
  refusals.push(await refusal(() => optimizer.step()));
  optimizer.learningRate = device.rank === 0 ? 0.5 : 1;
  refusals.push(await refusal(() => optimizer.step()));
  optimizer.learningRate = 0.5;
  refusals.push(await refusal(() => (device.rank === 0 ? optimizer.reduce() : optimizer.step())));
  await optimizer.step();
  return { refusals, masters: [...(await optimizer.consolidate('a'))] };
}

/** Loads a parameter on both ranks, from what `of` gives for the rank; undefined: not on this one. */
function loadOn(
  optimizer: FoldedOptimizer,
  rank: number,
  of: (rank: number) => Float32Array | Uint16Array | undefined,
): void {
  const values = of(rank);
  if (values) optimizer.load('a', values);
}

const filled = (value: number) => new Float32Array(300).fill(value);

/** Loads that differ, each mended before the next. */
export async function loads(device: Device) {
  const results: unknown[] = [];
  const update = adamw({ lr: 0.1 });
  for (const [sizes, zeroStage] of [
    [{}, 0],
    [{}, 2],
    [{ tp: 2 }, 1],
  ] as const) {
    const options: Options = { zeroStage, update };
    using optimizer = await fold(device, sizes, [w('first', 2), w('a', 300)], options);
    const attempt = async (of: Parameters<typeof loadOn>[2]) => {
      write(optimizer, { first: 1, a: 1 });
      await optimizer.accumulate();
      loadOn(optimizer, device.rank, of);
      const refused = await refusal(() => optimizer.step());
      const untouched = optimizer.stepCount;
      optimizer.load('a', filled(0.5));
      await optimizer.step();
      return { refused, untouched };
    };
    results.push([
      // The ranks begin apart in the last element, which at ZeRO 2 rank 0 does not own.
      await attempt((rank) => filled(1).with(299, rank)),
      await attempt((rank) => (rank === 0 ? filled(0.5) : undefined)),
      await attempt((rank) => (rank === 0 ? filled(1) : toBFloat16(filled(1.0078125)))),
    ]);
  }
  return results;
}

/** Loads that are the same, however they were done. */
export async function sameLoads(device: Device) {
  const update = adamw({ lr: 0.1 });
  using optimizer = await fold(device, {}, [w('a', 300)], { update });
  const weights: string[] = [];
  const step = async () => {
    write(optimizer, { a: 1 });
    await optimizer.accumulate();
    await optimizer.step();
    weights.push([...new Set(optimizer.weight('a'))].join());
  };
  await step(); // where nothing was loaded
  loadOn(optimizer, device.rank, (rank) => (rank === 0 ? filled(0.5) : toBFloat16(filled(0.5))));
  await step();
  // A wrong load that was mended before the step leaves nothing behind.
  if (device.rank === 0) optimizer.load('a', filled(7));
  optimizer.load('a', filled(0.25));
  await step();
  return weights;
}

/** Pipeline stages take as many micro-batches as they like, and hold parameters of their own. */
export async function stagesApart(device: Device) {
  using optimizer = await fold(device, { pp: 2 }, device.rank === 0 ? [w('a')] : [w('b'), w('c')]);
  const batch: Record<string, number> = device.rank === 0 ? { a: 1 } : { b: 1, c: 1 };
  for (const name of Object.keys(batch)) optimizer.load(name, new Float32Array(4).fill(device.rank));
  write(optimizer, batch);
  for (let i = 0; i <= device.rank; i++) await optimizer.accumulate();
  return (await optimizer.step()).gradNorm;
}

/** A stage that misses a gradient stops the other, which holds no element and has nothing to accumulate. */
export async function stageWithoutElements(device: Device) {
  using optimizer = await fold(device, { pp: 2 }, device.rank === 0 ? [w('a')] : [w('none', 0)]);
  const missing = await refusal(() => optimizer.step());
  if (device.rank === 0) {
    write(optimizer, { a: 2 });
    await optimizer.accumulate();
  }
  return { missing, gradNorm: (await optimizer.step()).gradNorm };
}
