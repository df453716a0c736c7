import type { Device } from '#lib/device/device.js';
import { FoldstepError } from '#lib/errors.js';
import { lostByRoundTrip, otherThanUnsharded } from '../../support/consolidate.js';
import { fold, microbatches, write } from '../../support/fold.js';

const w = (name: string, size = 6) => ({ name, shape: [size], family: 'dense' as const });

export const lostWithTwoLanesAndTwoOwners = (device: Device) => lostByRoundTrip(device, { tp: 2, ep: 2 });
export const lostAcrossTheLanes = (device: Device) => lostByRoundTrip(device, { tp: 2, ep: 4 });
export const lostWithFourLanes = (device: Device) => lostByRoundTrip(device, { tp: 4, ep: 2 });
export const otherWithTwoLanesAndTwoOwners = (device: Device) => otherThanUnsharded(device, { tp: 2, ep: 2 });
export const otherAcrossTheLanes = (device: Device) => otherThanUnsharded(device, { tp: 2, ep: 4 });
export const otherWithFourLanes = (device: Device) => otherThanUnsharded(device, { tp: 4, ep: 2 });

export async function everyPipelineStageHasItsOwn(device: Device) {
  const stage = Math.floor(device.rank / 2);
  using optimizer = await fold(device, { pp: 2, tp: 2 }, [w(`stage ${stage}`, 2 + stage)]);
  optimizer.load(`stage ${stage}`, new Float32Array(2 + stage).fill(10 + stage));
  return [...(await optimizer.consolidate(`stage ${stage}`))];
}

async function refusal(action: () => Promise<unknown>) {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof FoldstepError)) throw error;
    return { code: error.code, message: error.message };
  }
  throw new Error('nothing was refused');
}

export async function whatIsRefused(device: Device) {
  using optimizer = await fold(device, { tp: 2 }, [w('a', 100_000), w('b')]);
  optimizer.load('b', Float32Array.of(0, 1, 2, 3, 4, 5));
  write(optimizer, { a: 1, b: 1 });
  const accumulated = optimizer.accumulate();
  const refusals = [await refusal(() => optimizer.consolidate('b'))];
  await accumulated;
  refusals.push(await refusal(() => optimizer.consolidate('a', 'accumulated')));
  refusals.push(await refusal(() => optimizer.consolidate('a', 'exp_avg')));
  refusals.push(await refusal(() => optimizer.consolidate('nobody')));
  refusals.push(await refusal(() => optimizer.consolidate(device.rank === 3 ? 'a' : 'b')));
  const first = optimizer.consolidate('b');
  refusals.push(await refusal(() => optimizer.consolidate('a')));
  refusals.push(await refusal(() => optimizer.step()));
  const whole = [...(await first)];
  await optimizer.step();
  return { refusals, whole, stepped: [...(await optimizer.consolidate('b'))] };
}

export async function theGradientIsGoneAfterTheStep(device: Device) {
  using optimizer = await fold(device, { tp: 2 }, [w('a')]);
  await microbatches(optimizer, { a: 2 });
  await optimizer.reduce();
  const before = [...(await optimizer.consolidate('a', 'accumulated'))];
  await optimizer.step();
  return { before, after: (await refusal(() => optimizer.consolidate('a', 'accumulated'))).code };
}
