import { expect } from 'chai';
import { init } from '#lib/device/init.js';
import { FoldstepError } from '#lib/errors.js';
import { addon } from '#lib/native/load.js';
import type { RawOperation } from '#lib/native/types.js';
import { refusal } from './support.js';

describe('disposal', () => {
  const MEBIBYTE = 1 << 20;

  it('empties the typed arrays of a buffer, and refuses its use afterwards', async () => {
    using device = await init();
    const buffer = device.allocate(64);
    const view = buffer.view('float32');
    const { array } = view;
    expect(array.length).to.equal(16);
    buffer.dispose();
    buffer.dispose();
    expect(array.length).to.equal(0);
    await refusal('DISPOSED', () => view.array);
    await refusal('DISPOSED', () => device.zero(view));
    await refusal('DISPOSED', () => device.world.allReduce(view));
  });

  it('refuses a stream, a communicator and a device afterwards', async () => {
    const device = await init();
    using buffer = device.allocate(64);
    const view = buffer.view('float32');
    const stream = device.createStream();
    stream.dispose();
    stream.dispose();
    await refusal('DISPOSED', () => stream.synchronize());
    await refusal('DISPOSED', () => device.zero(view, stream));
    const part = await device.world.split(0);
    part.dispose();
    await refusal('DISPOSED', () => part.barrier());
    device.dispose();
    device.dispose();
    await refusal('DISPOSED', () => device.allocate(8));
    await refusal('DISPOSED', () => device.zero(view));
    await refusal('DISPOSED', () => device.world.barrier());
    await refusal('DISPOSED', () => device.stream.synchronize());
    view.array.fill(1);
  });

  it('of a buffer leaves the operation in flight its memory, a hundred times', async () => {
    using device = await init();
    for (let round = 0; round < 100; round++) {
      const source = device.allocate(MEBIBYTE).view('uint8');
      const target = device.allocate(MEBIBYTE).view('uint8');
      device.copy(source, target);
      const done = device.stream.synchronize();
      source.buffer.dispose();
      target.buffer.dispose();
      await done;
    }
  });

  it('of a device or a stream with operations in flight settles their promises, a hundred times', async () => {
    for (let round = 0; round < 100; round++) {
      const device = await init();
      const buffer = device.allocate(2 * MEBIBYTE);
      const [source, target] = [buffer.view('uint8', 0, MEBIBYTE), buffer.view('uint8', MEBIBYTE)];
      const stream = device.createStream();
      const pending = [device.stream, stream].map((each) => {
        for (let i = 0; i < 4; i++) device.copy(source, target, each);
        return each.synchronize();
      });
      const settled = Promise.allSettled(pending);
      if (round % 2 === 0) stream.dispose();
      device.dispose();
      buffer.dispose();
      for (const outcome of await settled) {
        if (outcome.status === 'fulfilled') continue;
        expect(outcome.reason).to.be.instanceOf(FoldstepError);
        expect(outcome.reason).to.have.property('code', 'ABORTED');
      }
    }
  });

  it('is checked natively too: wrong objects and numbers are refused, and nothing crashes', async () => {
    const native = addon();
    const backend = native.createBackend('cpu', 1000, 1, 0, 1, 'auto');
    const stream = backend.createStream();
    const memory = backend.allocate(16);
    const anything = backend as unknown as Record<string, (...args: unknown[]) => unknown>;
    const codeOf = (call: () => unknown) => {
      try {
        call();
      } catch (error) {
        return (error as { code?: string }).code;
      }
      return 'none';
    };
    for (const wrong of [
      undefined,
      null,
      1,
      'x',
      {},
      [],
      memory,
      backend,
      new Proxy(stream, {}),
      Object.create(stream),
    ]) {
      expect(codeOf(() => anything['zero']!(wrong, memory, 0, 16))).to.equal('INVALID_ARGUMENT');
    }
    for (const wrong of [undefined, {}, stream, new ArrayBuffer(8), new Uint8Array(8)]) {
      expect(codeOf(() => anything['zero']!(stream, wrong, 0, 16))).to.equal('INVALID_ARGUMENT');
    }
    for (const wrong of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', undefined, 1n, 17]) {
      expect(codeOf(() => anything['zero']!(stream, memory, wrong, 0))).to.equal('INVALID_ARGUMENT');
    }
    expect(codeOf(() => anything['zero']!(stream, memory, 0, 17))).to.equal('INVALID_LENGTH');
    for (const wrong of ['float16', '', 0, 9, undefined, null, {}]) {
      expect(codeOf(() => anything['cast']!(stream, memory, 0, wrong, memory, 0, 'float32', 1))).to.equal(
        'INVALID_ARGUMENT',
      );
    }
    const partials = backend.allocate(1024);
    const span = (offset: unknown, bytes: unknown) => ({ memory, offset, bytes });
    const spec = {
      groups: 1,
      ranks: 1,
      gathered: { memory: partials, offset: 0, bytes: 1024 },
      scale: span(0, 8),
    };
    const prepare = (given: unknown) => () => anything['preparePowerScale']!(given) as RawOperation;
    for (const wrong of [undefined, null, 1, 'x', {}, stream, { ...spec, gathered: partials }]) {
      expect(codeOf(prepare(wrong))).to.equal('INVALID_ARGUMENT');
    }
    for (const wrong of [span(17, 0), span(-1, 8), span(0, 0.5), span('0', 8), { offset: 0, bytes: 8 }]) {
      expect(codeOf(prepare({ ...spec, scale: wrong }))).to.equal('INVALID_ARGUMENT');
    }
    // What a run lies about its length is cut off at the end of its block.
    for (const wrong of [span(16, 8), span(9, 2 ** 40), span(0, 7)]) {
      expect(codeOf(prepare({ ...spec, scale: wrong }))).to.equal('INVALID_LENGTH');
    }
    const operation = prepare(spec)();
    for (const wrong of [undefined, {}, memory, operation]) {
      expect(codeOf(() => operation.enqueue(wrong as never))).to.equal('INVALID_ARGUMENT');
    }
    for (const wrong of ['1', null, 1, {}]) {
      expect(codeOf(() => operation.enqueue(stream, wrong as never))).to.equal('INVALID_ARGUMENT');
    }
    operation.release();
    expect(codeOf(() => operation.enqueue(stream))).to.equal('DISPOSED');
    partials.release();
    // The constructor gives an empty object, and methods do not work on others' objects.
    const Memory = memory.constructor as new () => typeof memory;
    expect(codeOf(() => new Memory().arrayBuffer(0, 0))).to.equal('DISPOSED');
    expect(() => (memory.arrayBuffer as () => unknown).call(stream)).to.throw(TypeError);
    memory.release();
    stream.release();
    backend.release();
  });
});
