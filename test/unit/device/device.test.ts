import { expect } from 'chai';
import type { Device } from '#lib/device/device.js';
import type { DType } from '#lib/device/dtype.js';
import { init } from '#lib/device/init.js';
import { sgd } from '#lib/update/sgd.js';
import { refusal } from './support.js';

describe('a device alone', () => {
  let device: Device;

  before(async () => {
    device = await init({ launcher: 'none' });
  });
  after(() => device.dispose());

  it('is a world of one', async () => {
    expect(device).to.include({
      kind: 'cpu',
      rank: 0,
      size: 1,
      node: 0,
      localRank: 0,
      localSize: 1,
      library: 'none',
    });
    expect(device.world.worldRanks).to.deep.equal([0]);
    expect(Object.keys(device.describe())).to.include('instruction set');
  });

  it('refuses options that are none', async () => {
    await refusal('INVALID_ARGUMENT', () => init({ device: 'tpu' as 'cpu' }));
    await refusal('INVALID_ARGUMENT', () => init({ launcher: 'slurm' as 'mpi' }));
    for (const deadlineMs of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1000' as never]) {
      await refusal('INVALID_ARGUMENT', () => init({ deadlineMs }));
    }
    await refusal('INVALID_ARGUMENT', () => init({ threads: 1.5 }));
  });

  it('casts between FP32 and BF16 both ways', async () => {
    using buffer = device.allocate(64);
    const source = buffer.view('float32', 0, 3);
    const narrow = buffer.view('bfloat16', 16, 3);
    const wide = buffer.view('float32', 32, 3);
    source.array.set([1, 1.00390625, -2.5]);
    device.cast(source, narrow);
    device.cast(narrow, wide);
    await device.stream.synchronize();
    expect([...wide.array]).to.deep.equal([1, 1, -2.5]);
  });

  it('copies and zeroes exactly the elements of a view', async () => {
    using buffer = device.allocate(32);
    const bytes = buffer.view('uint8');
    bytes.array.set(Array.from({ length: 32 }, (_, i) => i + 1));
    device.copy(bytes.subview(0, 5), bytes.subview(10, 15));
    device.zero(bytes.subview(30, 31));
    await device.stream.synchronize();
    const expected = Array.from({ length: 32 }, (_, i) => (i >= 10 && i < 15 ? i - 9 : i + 1));
    expected[30] = 0;
    expect([...bytes.array]).to.deep.equal(expected);
  });

  it('keeps the order of a stream over many operations', async () => {
    using buffer = device.allocate(4 * 1001);
    const cells = buffer.view('int32');
    cells.array[0] = 7;
    for (let i = 0; i < 1000; i++) device.copy(cells.subview(i, i + 1), cells.subview(i + 1, i + 2));
    await device.stream.synchronize();
    expect(cells.array[1000]).to.equal(7);
  });

  it('shows one and the same memory to every view', () => {
    using buffer = device.allocate(16);
    const view = buffer.view('float32');
    expect(view.length).to.equal(4);
    expect(view.array).to.equal(view.array);
    expect(buffer.view('uint8').array.buffer).to.equal(view.array.buffer);
    view.subview(1, 3).array.fill(1);
    expect([...view.array]).to.deep.equal([0, 1, 1, 0]);
    expect([...buffer.view('int32', 4, 1).array]).to.deep.equal([0x3f800000]);
  });

  it('gives an empty block and empty views', async () => {
    using buffer = device.allocate(0);
    const view = buffer.view('float64');
    device.zero(view);
    device.cast(buffer.view('float32'), buffer.view('bfloat16'));
    await device.world.allReduce(view);
    expect(view.array.length).to.equal(0);
  });

  it('refuses views that are misaligned or leave the buffer', async () => {
    using buffer = device.allocate(16);
    await refusal('INVALID_DTYPE', () => buffer.view('float16' as DType));
    await refusal('INVALID_ARGUMENT', () => buffer.view('float32', 2));
    await refusal('INVALID_ARGUMENT', () => buffer.view('uint8', -1));
    await refusal('INVALID_LENGTH', () => buffer.view('float32', 8, 3));
    await refusal('INVALID_LENGTH', () => buffer.view('float64', 24));
    await refusal('INVALID_LENGTH', () => buffer.view('uint8', 0, Number.NaN));
    const view = buffer.view('float32');
    await refusal('INVALID_LENGTH', () => view.subview(1, 5));
    await refusal('INVALID_LENGTH', () => view.subview(3, 2));
    await refusal('INVALID_ARGUMENT', () => device.allocate(-1));
    await refusal('OUT_OF_MEMORY', () => device.allocate(2 ** 52));
  });

  it('refuses operations on views that do not fit, before anything is enqueued', async () => {
    using buffer = device.allocate(64);
    const floats = buffer.view('float32', 0, 4);
    const halves = buffer.view('bfloat16', 32, 4);
    floats.array.fill(1);
    await refusal('INVALID_DTYPE', () => device.cast(floats, buffer.view('float32', 32, 4)));
    await refusal('INVALID_LENGTH', () => device.cast(floats, halves.subview(0, 3)));
    await refusal('INVALID_ARGUMENT', () => device.cast(floats, buffer.view('bfloat16', 0, 4)));
    await refusal('INVALID_DTYPE', () => device.copy(floats, buffer.view('int32', 32, 4)));
    await refusal('INVALID_ARGUMENT', () => device.copy(floats, buffer.view('float32', 8, 4)));
    await refusal('INVALID_ARGUMENT', () => device.zero(new Float32Array(4) as never));
    await device.stream.synchronize();
    expect([...floats.array]).to.deep.equal([1, 1, 1, 1]);
  });

  it('measures temporaries and lets the peak be reset', () => {
    device.temporaries.resetPeak();
    expect(device.temporaries.currentBytes).to.equal(0);
    expect(device.temporaries.peakBytes).to.equal(0);
  });

  it('folds, reduces and gathers in a team of one', async () => {
    using buffer = device.allocate(64);
    const gradient = buffer.view('bfloat16', 0, 4);
    const accumulator = buffer.view('float32', 16, 4);
    gradient.array.fill(0x4000);
    const team = { communicator: device.world };
    const half = { team, path: 'direct', gradient, accumulator, scale: 0.5, mirror: true } as const;
    device.prepareAccumulate(half).enqueueOnce();
    device.prepareReduce({ team, path: 'exchange', data: accumulator, scale: 3 }).enqueueOnce();
    device.prepareGather({ team, path: 'direct', data: accumulator }).enqueueOnce();
    await device.stream.synchronize();
    expect([...accumulator.array]).to.deep.equal([3, 3, 3, 3]);
    expect([...gradient.array]).to.deep.equal([0x3f80, 0x3f80, 0x3f80, 0x3f80]);
  });

  it('refuses folds that do not fit', async () => {
    using buffer = device.allocate(64);
    const gradient = buffer.view('bfloat16', 0, 4);
    const accumulator = buffer.view('float32', 16, 4);
    const team = { communicator: device.world };
    const fold = (request: object) => () =>
      device.prepareAccumulate({ team, path: 'direct', gradient, accumulator, ...request });
    await refusal('INVALID_DTYPE', fold({ gradient: buffer.view('int32') }));
    await refusal('INVALID_DTYPE', fold({ accumulator: gradient }));
    await refusal('INVALID_LENGTH', fold({ accumulator: accumulator.subview(0, 3) }));
    await refusal('INVALID_ARGUMENT', fold({ path: 'ring' }));
    await refusal('INVALID_ARGUMENT', fold({ accumulation: 'fp64' }));
    const geometry = { begin: 0, end: 4, replicas: 1, shardLength: 4 };
    await refusal('INVALID_LENGTH', fold({ geometry: { ...geometry, end: 5 } }));
    await refusal('INVALID_ARGUMENT', fold({ geometry: { ...geometry, begin: 5 } }));
    await refusal('INVALID_ARGUMENT', fold({ geometry: { ...geometry, replicas: 2 } }));
  });

  it('takes a norm and a step', async () => {
    const segments = [
      { offset: 0, length: 2, group: 0, parameter: 0, counted: true },
      { offset: 2, length: 1, group: 1, parameter: 1, counted: true },
    ];
    const places = device.normScalars(2);
    using floats = device.allocate(64);
    using doubles = device.allocate(8 * (1 + places.partialsLength + places.length));
    using weights = device.allocate(6);
    const accumulator = floats.view('float32', 0, 3);
    const master = floats.view('float32', 16, 3);
    const weight = weights.view('bfloat16');
    const scale = doubles.view('float64', 0, 1);
    const partials = doubles.view('float64', 8, places.partialsLength);
    const scalars = doubles.view('float64', 8 + 8 * places.partialsLength, places.length);
    accumulator.array.set([3, 4, 12]);
    master.array.fill(1);

    const common = { segments, groups: 2, arena: accumulator, partials } as const;
    const finish = { groups: 2, ranks: 1, gathered: partials, scalars } as const;
    for (const kind of ['infinity', 'power'] as const) {
      device.prepareNormPartials({ ...common, kind, p: 3, powerScale: scale }).enqueueOnce();
      if (kind === 'power') break;
      device.preparePowerScale({ groups: 2, ranks: 1, gathered: partials, scale }).enqueueOnce();
    }
    device.prepareFinishNorm({ ...finish, kind: 'power', p: 3, maxNorm: 0, powerScale: scale }).enqueueOnce();
    await device.stream.synchronize();
    expect(scalars.array[places.norm]).to.be.closeTo(Math.cbrt(27 + 64 + 1728), 1e-12);

    using norm = device.prepareNormPartials({ ...common, kind: 'two', p: 2 });
    norm.enqueue();
    device.prepareFinishNorm({ ...finish, kind: 'two', p: 2, maxNorm: 6.5 }).enqueueOnce();
    using update = device.prepareUpdate({
      settings: sgd({ lr: 1 }).settings,
      segments: [
        { master: 0, accumulator: 0, weight: 0, length: 2, group: 0 },
        { master: 2, accumulator: 2, weight: 2, length: 1, group: 1 },
      ],
      clears: [],
      groups: 2,
      master,
      accumulator,
      weight,
      scalars,
    });
    update.enqueue(device.stream, 1, 1);
    await device.stream.synchronize();
    expect(scalars.array[places.norm]).to.equal(13);
    expect(scalars.array[places.groupNorm(0)]).to.equal(5);
    expect(scalars.array[places.groupNorm(1)]).to.equal(12);
    expect(scalars.array[places.coefficient(1)]).to.be.closeTo(0.5, 1e-6);
    expect(scalars.array[places.skip]).to.equal(0);
    expect(master.array[2]).to.be.closeTo(-5, 1e-5);
    expect([...accumulator.array]).to.deep.equal([0, 0, 0]);
    expect(weight.array[2]).to.equal(0xc0a0);

    const prepare = (fields: object) => () =>
      device.prepareNormPartials({ ...common, kind: 'two', p: 2, ...fields });
    await refusal('INVALID_LENGTH', prepare({ arena: accumulator.subview(0, 2) }));
    await refusal('INVALID_LENGTH', prepare({ partials: scale }));
    await refusal('INVALID_ARGUMENT', prepare({ kind: 'power', p: 3 }));
    await refusal('INVALID_ARGUMENT', prepare({ groups: 0, segments: [] }));
    norm.dispose();
    await refusal('DISPOSED', () => norm.enqueue());
  });

  it('has collectives of a world of one, and refuses those that do not fit', async () => {
    using buffer = device.allocate(64);
    const source = buffer.view('float32', 0, 4);
    const target = buffer.view('float32', 16, 4);
    source.array.set([1, 2, 3, 4]);
    await device.world.allReduce(source, 'max');
    await device.world.allGather(source, target);
    expect([...target.array]).to.deep.equal([1, 2, 3, 4]);
    await device.world.reduceScatter(target, source);
    await device.world.broadcast(source, 0);
    target.array.fill(0);
    await device.world.allToAll(source, target, { sendCounts: [2], sendOffsets: [1], receiveCounts: [2] });
    expect([...target.array]).to.deep.equal([2, 3, 0, 0]);
    const part = await device.world.split(3);
    await part.barrier();
    expect(part.size).to.equal(1);
    part.dispose();

    const { world } = device;
    await refusal('INVALID_LENGTH', () => world.allGather(source, target.subview(0, 3)));
    await refusal('INVALID_DTYPE', () => world.allGather(source, buffer.view('int32', 16, 4)));
    await refusal('INVALID_ARGUMENT', () => world.allGather(source, source));
    await refusal('INVALID_ARGUMENT', () => world.allReduce(source, 'product' as 'sum'));
    await refusal('INVALID_ARGUMENT', () => world.broadcast(source, 1));
    await refusal('INVALID_LENGTH', () =>
      world.allToAll(source, target, { sendCounts: [5], receiveCounts: [5] }),
    );
    await refusal('INVALID_LENGTH', () =>
      world.allToAll(source, target, { sendCounts: [], receiveCounts: [] }),
    );
    await refusal('INVALID_ARGUMENT', () =>
      world.allToAll(source, target, { sendCounts: [0.5], receiveCounts: [1] }),
    );
  });
});
