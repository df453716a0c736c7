import fs, { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { SafetensorsFile } from '#lib/safetensors/file.js';
import { Scratch, safetensors } from '../replay/files.js';

describe('large safetensors files', () => {
  const scratch = new Scratch();
  after(() => scratch.remove());

  /** A file with one tensor `t` of `bytes` bytes, which is a hole in the file but for `last`, its last bytes. */
  const holey = (dtype: string, shape: number[], bytes: number, last: Uint8Array): SafetensorsFile => {
    const file = join(scratch.folder, `${dtype}.safetensors`);
    const start = safetensors({ t: { dtype, shape, data_offsets: [0, bytes] } }, new Uint8Array());
    const fd = openSync(file, 'w');
    writeSync(fd, start);
    ftruncateSync(fd, start.length + bytes);
    writeSync(fd, last, 0, last.length, start.length + bytes - last.length);
    closeSync(fd);
    return new SafetensorsFile(file);
  };

  it('give parts of a tensor of more than 4 GiB, up to its last element', () => {
    const elements = 2 ** 31 + 5;
    const file = holey(
      'BF16',
      [elements],
      2 * elements,
      new Uint8Array(Uint16Array.of(0x3f80, 0xc000).buffer),
    );
    expect(file.bfloat16('t', elements - 3)).to.deep.equal(Uint16Array.of(0, 0x3f80, 0xc000));
    expect(file.float32('t', elements - 3)).to.deep.equal(Float32Array.of(0, 1, -2));
    expect(file.bytes('t', 2 * elements - 1)).to.deep.equal(Uint8Array.of(0xc0));
  });

  it('give a tensor of more than 2 GiB whole, in pieces that may come short', () => {
    const file = holey('U8', [2 ** 31 + 3], 2 ** 31 + 3, Uint8Array.of(7, 8, 9));
    const { readSync } = fs;
    const lengths: number[] = [];
    // Reads nothing of what is long, so that 2 GiB of memory are never touched, and gives less than was asked for.
    fs.readSync = ((fd: number, into: Uint8Array, offset: number, length: number, position: number) => {
      if (length < 4096) return readSync(fd, into, offset, length, position);
      lengths.push(length);
      return Math.min(length, 2 ** 30) - 7;
    }) as typeof readSync;
    syncBuiltinESMExports();
    try {
      const bytes = file.bytes('t');
      expect(bytes).to.have.length(2 ** 31 + 3);
      expect(bytes.subarray(-4)).to.deep.equal(Uint8Array.of(0, 7, 8, 9));
      // Node itself refuses 2^31.
      expect(Math.max(...lengths)).to.be.below(2 ** 31);
      expect(lengths.length).to.be.above(1);
    } finally {
      fs.readSync = readSync;
      syncBuiltinESMExports();
    }
  });

  it('give no more than there is memory for, and say so', () => {
    const bytes = 2 ** 42;
    const file = holey('F32', [2 ** 20, 2 ** 20], bytes, new Uint8Array(Float32Array.of(7).buffer));
    expect(() => file.float32('t'))
      .to.throw(FoldstepError, /no memory for 1099511627776 elements of tensor t .*read it in parts/)
      .with.property('code', 'OUT_OF_MEMORY');
    expect(file.float32('t', 2 ** 40 - 1)).to.deep.equal(Float32Array.of(7));
  });
});
