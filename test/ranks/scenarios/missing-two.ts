import type { Device } from '#lib/device/device.js';
import { FoldstepError } from '#lib/errors.js';
import { fold, write } from '../../support/fold.js';

const w = (name: string, size = 4) => ({ name, shape: [size], family: 'dense' as const });

async function refusal(action: () => Promise<unknown>) {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof FoldstepError)) throw error;
    const { code, message, parameter, rank } = error;
    return { code, message, parameter, rank };
  }
  throw new Error('nothing was refused');
}

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
  using optimizer = await fold(device, { tp: 2 }, [w('a'), w('b')]);
  const { gradNorm, skipped } = await optimizer.step();
  return { gradNorm, skipped, steps: optimizer.stepCount };
}
