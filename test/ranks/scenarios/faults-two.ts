import type { Device } from '#lib/device/device.js';
import { FoldstepError } from '#lib/errors.js';
import { bits32, fold, microbatches, write } from '../../support/fold.js';

export const deadlineMs = 1500;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const dense = (name: string, size = 10) => ({ name, shape: [size], family: 'dense' as const });

export async function meshLargerThanTheWorld(device: Device) {
  const { Mesh } = await import('#lib/mesh/mesh.js');
  await fold(device, {}, [dense('a')], { mesh: new Mesh({ world: 4, tp: 2 }) } as never);
}

export async function parametersInAnotherOrder(device: Device) {
  const names = device.rank === 0 ? ['a', 'b'] : ['b', 'a'];
  await fold(
    device,
    { tp: 2 },
    names.map((name) => dense(name)),
  );
}

export async function anotherShape(device: Device) {
  await fold(device, { tp: 2 }, [dense('a', 10 + device.rank)]);
}

export async function otherOptions(device: Device) {
  await fold(device, { tp: 2 }, [dense('a')], { maxNorm: 1 + device.rank });
}

export async function otherLearningRates(device: Device) {
  using optimizer = await fold(device, { tp: 2 }, [dense('a')]);
  await microbatches(optimizer, { a: 1 });
  optimizer.learningRate = device.rank === 0 ? 0.5 : 0.25;
  await optimizer.step();
}

export async function learningRateThatIsNone(device: Device) {
  using optimizer = await fold(device, { tp: 2 }, [dense('a')]);
  await microbatches(optimizer, { a: 3 });
  const codes: string[] = [];
  for (const rate of [Number.NaN, -1]) {
    optimizer.learningRate = rate;
    await optimizer.step().catch((error: FoldstepError) => codes.push(error.code));
  }
  optimizer.learningRate = 0.5;
  await optimizer.step();
  return { codes, master: optimizer.shard('a', 'master').values[0] };
}

export async function wrongKindsOfArguments(device: Device) {
  const { adamw } = await import('#lib/update/adam.js');
  const { FoldedOptimizer } = await import('#lib/optimizer/folded-optimizer.js');
  const any = (value: unknown) => value as never;
  using optimizer = await fold(device, { tp: 2 }, [dense('a')]);
  const calls: (() => unknown)[] = [
    () => fold(device, {}, [dense('a')], any({ maxnorm: 1 })),
    () => fold(device, {}, [dense('a')], any({ update: undefined })),
    () => fold(device, {}, [dense('a')], any({ mesh: {} })),
    () => fold(device, {}, [dense('a')], any({ stream: {} })),
    () => fold(device, {}, [dense('a')], any({ norm: '2' })),
    () => fold(device, {}, any({})),
    () => fold(device, {}, [any(null)]),
    () => fold(device, {}, [any({ ...dense('a'), partion: [] })]),
    () => fold(device, {}, [any({ ...dense('a'), partition: {} })]),
    () => FoldedOptimizer.create(any(undefined)),
    () => adamw(any({ lr: 1, weight_decay: 1 })),
    () => adamw(any(undefined)),
    () => optimizer.gradient(any(undefined)),
    () => optimizer.accumulate(any('a')),
    () => optimizer.accumulate(any(5)),
  ];
  const codes: string[] = [];
  for (const call of calls) {
    try {
      await call();
      codes.push('nothing');
    } catch (error) {
      codes.push(error instanceof FoldstepError ? error.code : String(error));
    }
  }
  return codes;
}

export async function secondAccumulateTooEarly(device: Device) {
  using optimizer = await fold(device, { tp: 2 }, [dense('a', 100_000), dense('b')]);
  write(optimizer, { a: 1, b: 1 });
  const first = optimizer.accumulate();
  const codes: string[] = [];
  for (const again of [['a'], ['b'], undefined]) {
    await optimizer.accumulate(again).catch((error: FoldstepError) => codes.push(error.code));
  }
  await optimizer.step().then(
    () => codes.push('stepped'),
    (error: FoldstepError) => codes.push(error.code),
  );
  await first;
  return codes;
}

export async function nothingIsLostByBadInput(device: Device) {
  using optimizer = await fold(device, { tp: 2 }, [dense('a')]);
  await microbatches(optimizer, { a: 3 });
  const codes: string[] = [];
  const note = (error: FoldstepError) => codes.push(error.code);
  const attempt = (action: () => void) => {
    try {
      action();
    } catch (error) {
      note(error as FoldstepError);
    }
  };
  await optimizer.accumulate(['nobody']).catch(note);
  attempt(() => optimizer.load('a', new Float32Array(11)));
  attempt(() => optimizer.load('a', new Float64Array(10) as never));
  attempt(() => optimizer.gradient('nobody'));
  attempt(() => optimizer.shard('a', 'exp_avg'));
  await optimizer.reduce();
  await optimizer.accumulate().catch(note);
  const { gradNorm } = await optimizer.step();
  return { codes, gradNorm };
}

export async function afterDispose(device: Device) {
  const optimizer = await fold(device, { tp: 2 }, [dense('a')]);
  const view = optimizer.gradient('a');
  optimizer.dispose();
  optimizer.dispose();
  const codes = [view.length];
  const calls: (() => unknown)[] = [
    () => optimizer.gradient('a'),
    () => optimizer.weight('a'),
    () => optimizer.load('a', new Float32Array(10)),
    () => optimizer.shard('a', 'master'),
    () => optimizer.accumulate(),
    () => optimizer.reduce(),
    () => optimizer.step(),
  ];
  const seen: string[] = [];
  for (const call of calls) {
    try {
      await call();
      seen.push('nothing');
    } catch (error) {
      seen.push((error as FoldstepError).code);
    }
  }
  return { length: codes[0], seen };
}

export async function aSkippedStepChangesNothing(device: Device) {
  const { adamw } = await import('#lib/update/adam.js');
  using optimizer = await fold(
    device,
    { tp: 2, ep: 2 },
    [dense('a', 50), { name: 'e', shape: [2, 9], family: 'expert', partition: [{ axis: 'ep', dim: 0 }] }],
    { update: adamw({ lr: 0.1 }), maxNorm: 1 },
  );
  optimizer.load('a', new Float32Array(50).fill(0.3));
  await microbatches(optimizer, { a: 1, e: 2 });
  await optimizer.step();
  const state = () =>
    ['a', 'e'].flatMap((name) => [
      ...(['master', 'exp_avg', 'exp_avg_sq'] as const).flatMap((what) =>
        bits32(optimizer.shard(name, what).values),
      ),
      ...optimizer.weight(name),
    ]);
  const before = state();
  await microbatches(optimizer, { a: 1, e: device.rank === 1 ? [0, 0, Number.NaN, 0, 0, 0, 0, 0, 0] : 2 });
  const result = await optimizer.step();
  const after = state();
  const left = [...optimizer.shard('a', 'accumulated').values, ...optimizer.shard('e', 'accumulated').values];
  return {
    skipped: result.skipped,
    nonFinite: result.nonFinite,
    clipCoefficient: result.clipCoefficient,
    same: before.join() === after.join(),
    left: [...new Set(left)],
    stepCount: optimizer.stepCount,
  };
}

async function refusal(action: Promise<unknown>) {
  try {
    await action;
  } catch (error) {
    if (!(error instanceof FoldstepError)) throw error;
    return { code: error.code, message: error.message, peer: error.peer };
  }
  return { code: 'none', message: '', peer: undefined };
}

export async function otherParametersAccumulated(device: Device) {
  const refusals: unknown[] = [];
  for (const path of ['direct', 'owner', 'exchange', 'library'] as const) {
    using optimizer = await fold(device, { tp: 2 }, [dense('a', 1000), dense('b', 77)], { path });
    write(optimizer, { a: 1, b: 1 });
    refusals.push(await refusal(optimizer.accumulate([device.rank === 0 ? 'a' : 'b'])));
    refusals.push((await refusal(optimizer.accumulate(['a']))).code);
  }
  return refusals;
}

export async function aRankThatDoesNotCome(device: Device) {
  const refusals: unknown[] = [];
  for (const path of ['direct', 'owner', 'exchange', 'library'] as const) {
    using optimizer = await fold(device, { tp: 2 }, [dense('a', 1000)], { path });
    write(optimizer, { a: 1 });
    if (device.rank === 0) refusals.push(await refusal(optimizer.accumulate()));
    else await pause(deadlineMs + 500);
  }
  return refusals;
}

export async function collectivesOfDifferentSizes(device: Device) {
  const half = await device.world.split(0, device.rank);
  const buffer = device.allocate(4096);
  return refusal(half.allReduce(buffer.view('float32', 0, 100 + device.rank)));
}

export async function moreMemoryThanThereIs(device: Device) {
  device.allocate(2 ** 52);
}
