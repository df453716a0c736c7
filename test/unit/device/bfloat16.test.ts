import { expect } from 'chai';
import { fromBFloat16, toBFloat16 } from '#lib/device/bfloat16.js';
import { init } from '#lib/device/init.js';

describe('BF16 in TypeScript', () => {
  const rounded = (...values: number[]) => [...toBFloat16(Float32Array.from(values))];
  const ofBits = (bits: number) => toBFloat16(new Float32Array(Uint32Array.of(bits).buffer))[0];

  it('rounds to nearest, ties to even', () => {
    expect(rounded(1, 1.00390625, 1.01171875, -0, 1.0078125)).to.deep.equal([
      0x3f80, 0x3f80, 0x3f82, 0x8000, 0x3f81,
    ]);
  });

  it('keeps NaN a NaN, quieted, with its sign, and never carries it into infinity', () => {
    expect([0x7fffffff, 0xffffffff, 0x7f800001, 0xff800001].map(ofBits)).to.deep.equal([
      0x7fff, 0xffff, 0x7fc0, 0xffc0,
    ]);
  });

  it('overflows to infinity, and keeps infinity and subnormals', () => {
    expect([0x7f7fffff, 0x7f800000, 0xff800000, 0x00010000, 0x00008000].map(ofBits)).to.deep.equal([
      0x7f80, 0x7f80, 0xff80, 0x0001, 0x0000,
    ]);
  });

  it('agrees with the device on every upper half with the lower halves around a tie', async () => {
    using device = await init();
    const lower = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff];
    const bits = Uint32Array.from(
      { length: lower.length << 16 },
      (_, i) => ((i >>> 0) % 65536) * 65536 + lower[i >>> 16]!,
    );
    using buffer = device.allocate(6 * bits.length);
    const source = buffer.view('float32', 0, bits.length);
    const target = buffer.view('bfloat16', 4 * bits.length);
    new Uint32Array(source.array.buffer, 0, bits.length).set(bits);
    device.cast(source, target);
    await device.stream.synchronize();
    expect(Buffer.compare(Buffer.from(target.array), Buffer.from(toBFloat16(source.array)))).to.equal(0);
  });

  it('reads every pattern back exactly', async () => {
    using device = await init();
    using buffer = device.allocate(6 * 65536);
    const source = buffer.view('bfloat16', 4 * 65536);
    const target = buffer.view('float32', 0, 65536);
    source.array.set(Uint16Array.from({ length: 65536 }, (_, i) => i));
    device.cast(source, target);
    await device.stream.synchronize();
    const expected = new Uint32Array(fromBFloat16(source.array).buffer);
    expect(new Uint32Array(target.array.buffer, 0, 65536)).to.deep.equal(expected);
  });
});
