import type { Device } from '#lib/device/device.js';
import { adamw } from '#lib/update/adam.js';
import { fold, write } from '../../support/fold.js';
import { refusal } from '../../support/refusal.js';

const w = (name: string, size = 4) => ({ name, shape: [size], family: 'dense' as const });

export async function neverWritten(device: Device) {
  using optimizer = await fold(device, { tp: 2 }, [w('a'), w('b'), w('c'), w('none', 0)]);
  write(optimizer, { a: 1 });
  const refusals = [await refusal(() => optimizer.accumulate())];
  optimizer.gradientView('c');
  refusals.push(await refusal(() => optimizer.accumulate(['a', 'b'])));
  const nothing = [...optimizer.shard('a', 'accumulated').values];
  optimizer.gradient('b');
  await optimizer.accumulate();
  const { gradNorm } = await optimizer.step();
  return { refusals, nothing, gradNorm };
}

export async function notAccumulated(device: Device) {
  using optimizer = await fold(device, { tp: 2 }, [w('a'), w('b'), w('c'), w('none', 0)]);
  write(optimizer, { a: 3, b: 4, c: 0 });
  await optimizer.accumulate(['a']);
  const refusals = [await refusal(() => optimizer.step()), await refusal(() => optimizer.reduce())];
  await optimizer.accumulate(['c']);
  refusals.push(await refusal(() => optimizer.step()));
  const untouched = [optimizer.stepCount, optimizer.weight('a')[0]];
  await optimizer.accumulate(['b']);
  const { gradNorm } = await optimizer.step();
  await optimizer.accumulate(['b']);
  refusals.push(await refusal(() => optimizer.step()));
  return { refusals, untouched, gradNorm };
}

export async function noGradientAtAll(device: Device) {
  const update = adamw({ lr: 0.5, weightDecay: 0.5 });
  using optimizer = await fold(device, { tp: 2 }, [w('a'), w('b'), w('none', 0)], { update });
  optimizer.load('a', new Float32Array(4).fill(1));
  const exhausted = ['a', 'b'].values();
  for (const _ of exhausted);
  const refusals: unknown[] = [];
  for (const attempt of [
    () => optimizer.step(),
    () => optimizer.reduce(),
    () => optimizer.accumulate([]).then(() => optimizer.step()),
    () => optimizer.accumulate(exhausted).then(() => optimizer.step()),
    () => optimizer.accumulate(['none']).then(() => optimizer.step()),
  ]) {
    refusals.push(await refusal(attempt));
  }
  const untouched = [optimizer.stepCount, ...(await optimizer.consolidate('a'))];
  write(optimizer, { a: 0, b: 0 });
  await optimizer.accumulate();
  await optimizer.step();
  refusals.push(await refusal(() => optimizer.step()));
  return { refusals, untouched, decayed: [optimizer.stepCount, ...(await optimizer.consolidate('a'))] };
}
