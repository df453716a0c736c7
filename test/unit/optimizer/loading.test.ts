import { createContext, runInContext } from 'node:vm';
import { expect } from 'chai';
import { fromBFloat16, toBFloat16 } from '#lib/device/bfloat16.js';
import type { Device } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import type { FoldstepErrorCode } from '#lib/errors.js';
import type { FoldedOptimizer } from '#lib/optimizer/folded-optimizer.js';
import { refusal } from '../device/support.js';
import { alone } from './alone.js';

const VALUES = [1, -2, 0.5, 1.00390625];

describe('loading a parameter', () => {
  let device: Device;
  let optimizer: FoldedOptimizer;
  before(async () => {
    device = await init({ launcher: 'none', threads: 1 });
  });
  beforeEach(async () => {
    optimizer = await alone(device, [{ name: 'a', shape: [4], family: 'dense' }]);
    optimizer.load('a', Float32Array.of(7, 7, 7, 7));
  });
  afterEach(() => optimizer.dispose());
  after(() => device.dispose());

  const master = () => [...optimizer.shard('a', 'master').values];
  const weight = () => [...fromBFloat16(optimizer.weight('a'))];

  it('takes FP32 and BF16 from shared memory, and from a part of it', () => {
    const shared = new Float32Array(new SharedArrayBuffer(32), 8, 4);
    shared.set(VALUES);
    optimizer.load('a', shared);
    expect(master()).to.deep.equal(VALUES);
    // 1.00390625 lies between two BF16 numbers and goes to the even one.
    expect(weight()).to.deep.equal([1, -2, 0.5, 1]);
    const bits = new Uint16Array(new SharedArrayBuffer(8));
    bits.set(toBFloat16(Float32Array.of(4, 3, 2, 1)));
    optimizer.load('a', bits);
    expect([master(), weight()]).to.deep.equal([
      [4, 3, 2, 1],
      [4, 3, 2, 1],
    ]);
  });

  it('is not alone in that: a view is written from shared memory too', () => {
    const view = device.allocate(16).view('float32');
    const shared = new Float32Array(new SharedArrayBuffer(16));
    shared.set(VALUES);
    view.write(shared);
    expect([...view.read()]).to.deep.equal(VALUES);
  });

  it('takes arrays of another realm, shared or not', () => {
    const make = (code: string) => runInContext(code, createContext({})) as Float32Array;
    for (const code of [
      `Float32Array.of(${VALUES})`,
      `(() => { const a = new Float32Array(new SharedArrayBuffer(16)); a.set([${VALUES}]); return a; })()`,
    ]) {
      optimizer.load('a', Float32Array.of(7, 7, 7, 7));
      const foreign = make(code);
      expect(foreign).not.to.be.instanceOf(Float32Array);
      optimizer.load('a', foreign);
      expect([master(), weight()]).to.deep.equal([VALUES, [1, -2, 0.5, 1]]);
    }
  });

  it('refuses anything else, and has changed nothing', async () => {
    const moved = new Float32Array(4);
    structuredClone(moved.buffer, { transfer: [moved.buffer] });
    const wrong: [FoldstepErrorCode, unknown][] = [
      ['INVALID_LENGTH', new Float32Array(3)],
      ['INVALID_LENGTH', new Uint16Array(5)],
      ['INVALID_LENGTH', moved],
      ['INVALID_LENGTH', new Float32Array(new SharedArrayBuffer(20))],
      ['INVALID_DTYPE', new Float64Array(4)],
      ['INVALID_DTYPE', new Int16Array(4)],
      ['INVALID_DTYPE', VALUES],
      ['INVALID_DTYPE', { length: 4, [Symbol.toStringTag]: 'Float32Array' }],
      ['INVALID_DTYPE', Object.create(null)],
      ['INVALID_DTYPE', null],
      ['INVALID_DTYPE', 4n],
      ['INVALID_DTYPE', new DataView(new ArrayBuffer(16))],
    ];
    for (const [code, values] of wrong) {
      const error = await refusal(code, () => optimizer.load('a', values as Float32Array));
      expect(error).to.include({ parameter: 'a', rank: 0 });
      expect([master(), weight()]).to.deep.equal([
        [7, 7, 7, 7],
        [7, 7, 7, 7],
      ]);
    }
  });
});
