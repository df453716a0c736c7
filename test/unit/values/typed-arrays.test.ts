import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { typedArray, unshared } from '#lib/typed-arrays.js';

describe('typedArray', () => {
  it('gives an array over the same memory', () => {
    const values = Float32Array.of(1, 2, 3).subarray(1);
    const same = typedArray(values, 'Float32Array');
    expect(same).to.deep.equal(values);
    expect(same?.buffer).to.equal(values.buffer);
  });

  it('takes an array of another realm or subclass for what it is', () => {
    class Weights extends Float32Array {}
    for (const values of [runInNewContext('Float32Array.of(1, 2)'), Weights.of(1, 2)]) {
      const same = typedArray(values, 'Uint16Array', 'Float32Array');
      expect(same).to.deep.equal(Float32Array.of(1, 2));
      expect(same?.constructor).to.equal(Float32Array);
    }
  });

  it('gives the elements that are there, whatever fields say', () => {
    const values = Object.defineProperty(Float32Array.of(1, 2), 'length', { value: 1000 });
    expect(typedArray(values, 'Float32Array')).to.deep.equal(Float32Array.of(1, 2));
  });

  it('takes shared memory', () => {
    const shared = new Float32Array(new SharedArrayBuffer(8)).fill(3);
    expect(typedArray(shared, 'Float32Array')).to.deep.equal(Float32Array.of(3, 3));
  });

  it('finds no elements in memory that was transferred', () => {
    const values = Float32Array.of(1, 2);
    structuredClone(values.buffer, { transfer: [values.buffer] });
    expect(typedArray(values, 'Float32Array')).to.have.length(0);
  });

  it('gives nothing for other kinds and other values', () => {
    const lying = { [Symbol.toStringTag]: 'Float32Array', length: 2, buffer: new ArrayBuffer(8) };
    const proxy = new Proxy(Float32Array.of(1), {});
    for (const value of [undefined, null, 1, 'x', [], lying, proxy, new DataView(new ArrayBuffer(4))]) {
      expect(typedArray(value, 'Float32Array')).to.equal(undefined);
    }
    expect(typedArray(Float64Array.of(1), 'Float32Array', 'Uint16Array')).to.equal(undefined);
  });
});

describe('unshared', () => {
  it('copies what lies in shared memory, of whatever realm, and nothing else', () => {
    const values = Float32Array.of(1, 2);
    expect(unshared(values)).to.equal(values);
    const code =
      '(() => { const a = new Float32Array(new SharedArrayBuffer(16), 8); a.set([1, 2]); return a; })()';
    for (const shared of [
      new Float32Array(new SharedArrayBuffer(8)),
      runInNewContext(code) as Float32Array,
    ]) {
      shared.set([1, 2]);
      const copy = unshared(shared);
      shared.fill(3);
      expect([...copy]).to.deep.equal([1, 2]);
    }
  });
});
