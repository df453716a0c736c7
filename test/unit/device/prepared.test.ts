import { expect } from 'chai';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import type { UpdateSpec } from '#lib/device/operations/update.js';
import { sgd } from '#lib/update/sgd.js';
import { refusal } from './support.js';

describe('a prepared operation', () => {
  let device: Device;

  before(async () => {
    device = await init({ launcher: 'none' });
  });
  after(() => device.dispose());

  const ones = (length: number) => {
    const view = device.allocate(4 * length).view('float32');
    view.array.fill(1);
    return view;
  };
  /** Doubles what it covers. */
  const doubling = (data = ones(6), geometry?: { begin: number; end: number }) =>
    device.prepareReduce({
      team: { communicator: device.world },
      path: 'direct',
      data,
      scale: 2,
      ...(geometry && { geometry: { ...geometry, replicas: 1, shardLength: data.length } }),
    });
  const sgdStep = (fields: Partial<UpdateSpec> = {}) =>
    device.prepareUpdate({
      settings: sgd({ lr: 1 }).settings,
      segments: [{ master: 0, accumulator: 0, weight: 0, length: 4, group: 0 }],
      clears: [],
      groups: 1,
      master: ones(4),
      accumulator: ones(4),
      weight: device.allocate(8).view('bfloat16'),
      scalars: finished(),
      ...fields,
    });
  /** What a norm of a gradient of ones leaves, which is not clipped. */
  const finished = () => {
    const places = device.normScalars(1);
    const scalars = device.allocate(8 * places.length).view('float64');
    scalars.array[places.coefficient(0)] = 1;
    return scalars;
  };

  it('covers the elements that it is enqueued for and no others', async () => {
    const data = ones(6);
    using operation = doubling(data);
    operation.enqueue(device.stream, 1, 4);
    await device.stream.synchronize();
    expect([...data.array]).to.deep.equal([1, 2, 2, 2, 1, 1]);
    operation.enqueue(device.stream, 3, 3);
    operation.enqueue(device.stream, 5, 6);
    operation.enqueue();
    await device.stream.synchronize();
    expect([...data.array]).to.deep.equal([2, 4, 4, 4, 2, 4]);
  });

  it('accumulates and mirrors a part of the gradient alone', async () => {
    const gradient = device.allocate(12).view('bfloat16');
    gradient.array.fill(0x4000);
    const accumulator = ones(6);
    using operation = device.prepareAccumulate({
      team: { communicator: device.world },
      path: 'exchange',
      gradient,
      accumulator,
      scale: 0.5,
      mirror: true,
    });
    operation.enqueue(device.stream, 2, 5);
    await device.stream.synchronize();
    expect([...accumulator.array]).to.deep.equal([1, 1, 2, 2, 2, 1]);
    expect([...gradient.array]).to.deep.equal([0x4000, 0x4000, 0x3f80, 0x3f80, 0x3f80, 0x4000]);
  });

  it('covers all of its geometry where it is told nothing, and nothing beyond', async () => {
    const data = ones(6);
    using operation = doubling(data, { begin: 2, end: 5 });
    operation.enqueue();
    operation.enqueue(device.stream, 2, 3);
    await device.stream.synchronize();
    expect([...data.array]).to.deep.equal([1, 1, 4, 2, 2, 1]);
    for (const [begin, end] of [
      [1, 5],
      [2, 6],
      [0, 1],
      [5, 6],
      [-1, 3],
      [4, 3],
      [2.5, 4],
      [2, 3.5],
      [Number.NaN, 4],
      [2, Number.POSITIVE_INFINITY],
    ] as const) {
      await refusal('INVALID_LENGTH', () => operation.enqueue(device.stream, begin, end));
    }
    await refusal('INVALID_LENGTH', () =>
      (operation.enqueue as (...values: unknown[]) => void)(device.stream, 2),
    );
    await device.stream.synchronize();
    expect([...data.array]).to.deep.equal([1, 1, 4, 2, 2, 1]);
  });

  it('runs on any stream of its device', async () => {
    const data = ones(6);
    using operation = doubling(data);
    using stream = device.createStream();
    operation.enqueue(stream, 0, 2);
    await stream.synchronize();
    expect([...data.array]).to.deep.equal([2, 2, 1, 1, 1, 1]);
  });

  it('refuses values of another kind, and more or fewer than it takes', async () => {
    using fold = doubling();
    using update = sgdStep();
    const places = device.normScalars(1);
    using power = device.preparePowerScale({
      groups: 1,
      ranks: 1,
      gathered: device.allocate(8 * places.partialsLength).view('float64'),
      scale: device.allocate(8).view('float64'),
    });
    const { stream } = device;
    const enqueue =
      (operation: object, ...values: unknown[]) =>
      () =>
        (operation as { enqueue(...values: unknown[]): void }).enqueue(...values);
    for (const wrong of ['0', null, undefined, {}, 1n, true, Symbol('s')]) {
      await refusal('INVALID_ARGUMENT', enqueue(fold, stream, wrong, 2));
      await refusal('INVALID_ARGUMENT', enqueue(fold, stream, 0, wrong));
      await refusal('INVALID_ARGUMENT', enqueue(update, stream, wrong, 1));
      await refusal('INVALID_ARGUMENT', enqueue(update, stream, 1, wrong));
      await refusal('INVALID_ARGUMENT', enqueue(power, stream, wrong));
      if (wrong !== undefined) await refusal('INVALID_ARGUMENT', enqueue(fold, wrong));
    }
    for (const values of [[], [1], [1, 1, 1], [1, 1, 1, 1, 1]]) {
      await refusal('INVALID_ARGUMENT', enqueue(update, stream, ...values));
    }
    for (const values of [[1], [1, 1], [1, 1, 1, 1, 1]]) {
      await refusal('INVALID_ARGUMENT', enqueue(power, stream, ...values));
    }
    for (const values of [[0], [0, 1, 1], [0, 1, 1, 1, 1]]) {
      await refusal('INVALID_LENGTH', enqueue(fold, stream, ...values));
    }
  });

  it('is enqueued no more when it is disposed of, and what was enqueued runs', async () => {
    const data = ones(6);
    const operation = doubling(data);
    operation.enqueue();
    operation.dispose();
    operation.dispose();
    await refusal('DISPOSED', () => operation.enqueue());
    await refusal('DISPOSED', () => operation.enqueue(device.stream, 0, 1));
    await refusal('DISPOSED', () => operation.enqueueOnce());
    await device.stream.synchronize();
    expect([...data.array]).to.deep.equal([2, 2, 2, 2, 2, 2]);
  });

  it('is enqueued no more when a buffer that it works on is disposed of', async () => {
    const data = ones(6);
    using reduction = doubling(data);
    data.buffer.dispose();
    await refusal('DISPOSED', () => reduction.enqueue());

    for (const name of ['master', 'accumulator', 'scalars', 'moment1'] as const) {
      const view = name === 'scalars' ? finished() : ones(4);
      using update = sgdStep({
        settings: sgd({ lr: 1, momentum: 0.5 }).settings,
        moment1: ones(4),
        [name]: view,
      });
      update.enqueue(device.stream, 1, 1);
      await device.stream.synchronize();
      view.buffer.dispose();
      await refusal('DISPOSED', () => update.enqueue(device.stream, 1, 2));
    }
    await device.stream.synchronize();
  });

  it('is enqueued no more without its communicator, its window or the stream', async () => {
    const communicator = await device.world.split(0);
    const window = await device.createWindow(device.world, 64);
    const prepare = (team: object) =>
      device.prepareReduce({
        team: { communicator: device.world, ...team },
        path: 'direct',
        data: ones(6),
      });
    using alone = prepare({ communicator });
    using inWindow = prepare({ window });
    const stream = device.createStream();
    alone.enqueue(stream);
    inWindow.enqueue(stream);
    await stream.synchronize();
    communicator.dispose();
    await refusal('DISPOSED', () => alone.enqueue());
    window.dispose();
    await refusal('DISPOSED', () => inWindow.enqueue());
    stream.dispose();
    using other = doubling();
    await refusal('DISPOSED', () => other.enqueue(stream));
  });

  it('is enqueued no more when its device is disposed of', async () => {
    const own = await init({ launcher: 'none' });
    const data = own.allocate(16).view('float32');
    const operation = own.prepareReduce({ team: { communicator: own.world }, path: 'direct', data });
    own.dispose();
    await refusal('DISPOSED', () => operation.enqueue());
    operation.dispose();
  });

  it('is disposed of where it is enqueued once, also where that is refused', async () => {
    const data = ones(6);
    const operation = doubling(data);
    operation.enqueueOnce(device.stream, 1, 3);
    await refusal('DISPOSED', () => operation.enqueue());
    await refusal('DISPOSED', () => operation.enqueueOnce());
    await device.stream.synchronize();
    expect([...data.array]).to.deep.equal([1, 2, 2, 1, 1, 1]);

    const refused = doubling(data);
    await refusal('INVALID_LENGTH', () => refused.enqueueOnce(device.stream, 1, 7));
    await refusal('DISPOSED', () => refused.enqueue());
  });

  it('takes a step for the learning rate that it is given', async () => {
    const [master, accumulator] = [ones(4), ones(4)];
    using update = sgdStep({ master, accumulator });
    update.enqueue(device.stream, 0.5, 1);
    await device.stream.synchronize();
    expect([...master.array]).to.deep.equal([0.5, 0.5, 0.5, 0.5]);
    expect([...accumulator.array]).to.deep.equal([0, 0, 0, 0]);
    accumulator.array.fill(1);
    update.enqueue(device.stream, 0.25, 2);
    await device.stream.synchronize();
    expect([...master.array]).to.deep.equal([0.25, 0.25, 0.25, 0.25]);
  });

  it('refuses a step that is none and a learning rate that is not finite, and then takes no step', async () => {
    const master = ones(4);
    using update = sgdStep({ master });
    for (const step of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      await refusal('INVALID_ARGUMENT', () => update.enqueue(device.stream, 1, step));
    }
    for (const rate of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      await refusal('INVALID_ARGUMENT', () => update.enqueue(device.stream, rate, 1));
    }
    await device.stream.synchronize();
    expect([...master.array]).to.deep.equal([1, 1, 1, 1]);
  });

  it('is not made of settings that no step can have', async () => {
    const settings = sgd({ lr: 1 }).settings;
    for (const wrong of [
      { weightDecay: Number.NaN },
      { momentum: -1 },
      { nesterov: true },
      { rule: 'lion' as never },
      { rule: 'adam', beta1: 1 } as const,
      { rule: 'adamw', epsilon: -1 } as const,
    ]) {
      await refusal('INVALID_ARGUMENT', () => sgdStep({ settings: { ...settings, ...wrong } }));
    }
    await refusal('INVALID_LENGTH', () => sgdStep({ settings: { ...settings, momentum: 0.5 } }));
    await refusal('INVALID_LENGTH', () => sgdStep({ settings: { ...settings, rule: 'adam', epsilon: 1 } }));
  });
});
