import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { SafetensorsFile } from '#lib/safetensors/file.js';
import { Scratch, safetensors } from '../replay/files.js';

/** Bits of an element, as the format's own library has them. */
const BITS: Readonly<Record<string, number>> = {
  ...{ BOOL: 8, U8: 8, I8: 8, U16: 16, I16: 16, U32: 32, I32: 32, U64: 64, I64: 64 },
  ...{ F4: 4, F6_E2M3: 6, F6_E3M2: 6, F16: 16, BF16: 16, F32: 32, F64: 64, C64: 64 },
  ...{ F8_E4M3: 8, F8_E5M2: 8, F8_E8M0: 8, F8_E4M3FNUZ: 8, F8_E5M2FNUZ: 8 },
};
const CONVERTED = ['F32', 'BF16', 'F16', 'F64', 'F8_E4M3', 'F8_E5M2'];

describe('dtypes of a safetensors file', () => {
  const scratch = new Scratch();
  after(() => scratch.remove());

  /** A file of `elements` elements of `dtype` as `t`, of these bytes, and 1.5 in FP32 behind it. */
  const open = (dtype: string, elements: number, bytes: Uint8Array): SafetensorsFile => {
    const { length } = bytes;
    const header = {
      t: { dtype, shape: [elements], data_offsets: [0, length] },
      w: { dtype: 'F32', shape: [1], data_offsets: [length, length + 4] },
    };
    const data = Buffer.concat([bytes, new Uint8Array(Float32Array.of(1.5).buffer)]);
    return new SafetensorsFile(scratch.write('file.safetensors', safetensors(header, data)));
  };

  /** What bits of `dtype` are as FP32. */
  const converted = (dtype: string, bits: Uint8Array | Uint16Array | Float64Array): number[] => {
    const bytes = new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength);
    return [...open(dtype, bits.length, bytes).float32('t')];
  };

  it('may be any that the format has; what is not converted is told per tensor, and its bytes are given', () => {
    for (const [dtype, bits] of Object.entries(BITS)) {
      const bytes = Uint8Array.from({ length: bits }, (_, i) => i);
      const file = open(dtype, 8, bytes);
      expect(file.float32('w'), dtype).to.deep.equal(Float32Array.of(1.5));
      expect(file.bytes('t'), dtype).to.deep.equal(bytes);
      expect(file.bytes('t', 1, 3), dtype).to.deep.equal(Uint8Array.of(1, 2));
      if (CONVERTED.includes(dtype)) {
        expect(file.float32('t'), dtype).to.have.length(8);
      } else {
        expect(() => file.float32('t'), dtype)
          .to.throw(
            FoldstepError,
            `tensor t of ${file.file} was wanted as F32 and is ${dtype}; float32() converts`,
          )
          .with.property('code', 'INVALID_DTYPE');
      }
    }
  });

  it('of less than a byte must fill whole bytes together', () => {
    expect(open('F4', 2, new Uint8Array(1)).bytes('t')).to.have.length(1);
    expect(() => open('F4', 3, new Uint8Array(2))).to.throw(FoldstepError, /F4 \[3\], no number of bytes/);
    expect(() => open('F6_E2M3', 2, new Uint8Array(2))).to.throw(FoldstepError, /no number of bytes/);
  });

  it('F16 is converted exactly', () => {
    const bits = Uint16Array.of(
      0x3c00,
      0xc000,
      0x7bff,
      0x0400,
      0x03ff,
      0x0001,
      0x3555,
      0x8000,
      0x7c00,
      0xfc00,
    );
    // 65504 is the largest, 2^-14 the smallest normal; below it lie multiples of 2^-24; 0x3555 is 1365 / 4096.
    const values = [1, -2, 65504, 2 ** -14, 1023 * 2 ** -24, 2 ** -24, 1365 / 4096, -0, Infinity, -Infinity];
    expect(converted('F16', bits)).to.deep.equal(values);
    expect(converted('F16', Uint16Array.of(0x7e00, 0xfc01))).to.deep.equal([Number.NaN, Number.NaN]);
  });

  it('F8_E4M3 is converted exactly: it has no infinities, and 448 is its largest', () => {
    const bits = Uint8Array.of(0x38, 0xc0, 0x7e, 0x78, 0x08, 0x07, 0x01, 0x80);
    const values = [1, -2, 448, 256, 2 ** -6, 7 * 2 ** -9, 2 ** -9, -0];
    expect(converted('F8_E4M3', bits)).to.deep.equal(values);
    expect(converted('F8_E4M3', Uint8Array.of(0x7f, 0xff))).to.deep.equal([Number.NaN, Number.NaN]);
  });

  it('F8_E5M2 is converted exactly: it has infinities', () => {
    const bits = Uint8Array.of(0x3c, 0xc0, 0x7b, 0x04, 0x03, 0x01, 0x7c, 0xfc);
    const values = [1, -2, 57344, 2 ** -14, 3 * 2 ** -16, 2 ** -16, Infinity, -Infinity];
    expect(converted('F8_E5M2', bits)).to.deep.equal(values);
    expect(converted('F8_E5M2', Uint8Array.of(0x7d))).to.deep.equal([Number.NaN]);
  });

  it('BF16 is the upper half of FP32, and F64 is rounded to the nearest FP32', () => {
    expect(converted('BF16', Uint16Array.of(0x3fc0, 0x8000, 0xff80))).to.deep.equal([1.5, -0, -Infinity]);
    // Halfway between 1 and 1 + 2^-23 the even one is taken, and above half the upper one.
    const values = Float64Array.of(0.1, 1 + 2 ** -24, 1 + 2 ** -24 + 2 ** -50, 1e300, 1e-50);
    expect(converted('F64', values)).to.deep.equal([Math.fround(0.1), 1, 1 + 2 ** -23, Infinity, 0]);
  });

  it('are converted alike in one go and in parts', () => {
    const values = Float64Array.from({ length: 2 ** 20 + 3 }, (_, i) => i / 8);
    const file = open('F64', values.length, new Uint8Array(values.buffer));
    expect(file.float32('t').every((value, i) => value === values[i])).to.equal(true);
    expect(file.float32('t', 2 ** 20 - 1, 2 ** 20 + 2)).to.deep.equal(
      Float32Array.from(values.subarray(2 ** 20 - 1, 2 ** 20 + 2)),
    );
    for (const [begin, end] of [
      [-1, 2],
      [3, 2],
      [0, values.length + 1],
      [0.5, 1],
    ] as const) {
      expect(() => file.float32('t', begin, end))
        .to.throw(FoldstepError, `there is no part from ${begin} to ${end}`)
        .with.property('code', 'INVALID_ARGUMENT');
    }
  });
});
