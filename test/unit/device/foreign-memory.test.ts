import { expect } from 'chai';
import { Buffer } from '#lib/device/buffer.js';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import { Staged } from '#lib/device/staged.js';
import { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import { fold, write } from '../../support/fold.js';
import { refusal } from './support.js';

describe('memory that others own, and copies', () => {
  let device: Device;
  before(async () => {
    device = await init({ launcher: 'none' });
  });
  after(() => device.dispose());

  it('of another addon is read and written in place', async () => {
    const theirs = device.allocate(16).view('float32');
    const ours = Buffer.from(device, theirs.pointer, 16, theirs).view('float32');
    theirs.array.set([1, 2, 3, 4]);
    device.copy(ours.subview(0, 2), ours.subview(2, 4));
    await device.stream.synchronize();
    expect([...theirs.array]).to.deep.equal([1, 2, 1, 2]);
    ours.buffer.dispose();
    expect([...theirs.array]).to.deep.equal([1, 2, 1, 2]);
  });

  it('is viewed only as what its address allows', async () => {
    const { pointer } = device.allocate(32).view('uint8');
    const askew = Buffer.from(device, pointer + 2n, 16);
    await refusal('INVALID_ARGUMENT', () => askew.view('float32'));
    expect(askew.view('bfloat16').length).to.equal(8);
    expect(askew.view('float32', 2).length).to.equal(3);
  });

  it('is refused where there is none', async () => {
    const page = 4096n;
    const { pointer } = device.allocate(4096).view('uint8');
    const nowhere: [bigint, number][] = [
      [0n, 16],
      [0n, 0],
      [16n, 16],
      [-16n, 16],
      [2n ** 64n, 16],
      [2n ** 64n - 16n, 16],
      [2n ** 64n - 16n, 32],
      [2n ** 63n, 16],
      [pointer, Number.MAX_SAFE_INTEGER],
      [pointer, 2 ** 46],
      [page, 1],
    ];
    for (const [address, bytes] of nowhere) {
      await refusal('INVALID_ARGUMENT', () => Buffer.from(device, address, bytes));
    }
    await refusal('INVALID_ARGUMENT', () => Buffer.from(device, Number(pointer) as never, 16));
    expect(Buffer.from(device, pointer + page - 1n, 1).bytes).to.equal(1);
    expect(Buffer.from(device, pointer, 0).bytes).to.equal(0);
  });

  it('begins where a view says', () => {
    const buffer = device.allocate(64);
    expect(buffer.view('float32', 16).pointer - buffer.view('uint8').pointer).to.equal(16n);
  });

  it('is copied out and in, of every type', () => {
    const buffer = device.allocate(32);
    const doubles = buffer.view('float64', 8, 2);
    doubles.write(Float64Array.of(1.5, -2));
    expect(doubles.read()).to.deep.equal(Float64Array.of(1.5, -2));
    expect(buffer.view('float64').read()).to.deep.equal(Float64Array.of(0, 1.5, -2, 0));
    const copy = doubles.read();
    copy[0] = 7;
    expect(doubles.array[0]).to.equal(1.5);
    expect(buffer.view('bfloat16').read()).to.be.instanceOf(Uint16Array);
  });

  it('is not written from an array of another kind or length', async () => {
    const view = device.allocate(16).view('float32');
    await refusal('INVALID_DTYPE', () => view.write(new Float64Array(4) as never));
    await refusal('INVALID_LENGTH', () => view.write(new Float32Array(3)));
    view.buffer.dispose();
    await refusal('DISPOSED', () => view.read());
  });

  it('of the host is the same as the device has, on processors', () => {
    const view = device.allocateHost(8).view('float32');
    expect(view.buffer.hostAccessible).to.equal(true);
    const staged = new Staged(device, view);
    expect(staged.array).to.equal(view.array);
    staged.dispose();
    expect(view.array).to.have.length(2);
  });

  it('of an optimizer can be written without its arrays', async () => {
    const optimizer = await fold(device, {}, [{ name: 'w', shape: [3], family: 'dense' }], {
      gradientType: 'float32',
    });
    expect(optimizer).to.be.instanceOf(FoldedOptimizer);
    optimizer.gradientView('w').write(Float32Array.of(1, 2, 3));
    await optimizer.accumulate();
    write(optimizer, { w: [10, 20, 30] });
    await optimizer.accumulate();
    expect([...optimizer.shard('w', 'accumulated').values]).to.deep.equal([11, 22, 33]);
    optimizer.load('w', Float32Array.of(1, 2, 4));
    expect([...optimizer.weightView('w').read()]).to.deep.equal([...optimizer.weight('w')]);
    optimizer.dispose();
  });

  it('of a device that this build lacks is refused with what to do', async () => {
    process.env['FOLDSTEP_CUDA_PLUGIN'] = '/nowhere/foldstep_cuda.so';
    try {
      const { message } = await refusal('DEVICE_UNAVAILABLE', () =>
        init({ device: 'cuda', launcher: 'none' }),
      );
      expect(message).to.contain('/nowhere/foldstep_cuda.so is not built').and.to.contain('doctor');
      process.env['FOLDSTEP_CUDA_PLUGIN'] = 'libc.so.6';
      const relative = await refusal('DEVICE_UNAVAILABLE', () => init({ device: 'cuda', launcher: 'none' }));
      expect(relative.message).to.contain(`${process.cwd()}/libc.so.6 is not built`);
    } finally {
      delete process.env['FOLDSTEP_CUDA_PLUGIN'];
    }
  });
});
