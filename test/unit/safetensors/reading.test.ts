import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { SafetensorsFile } from '#lib/safetensors/file.js';
import { Scratch, safetensors } from '../replay/files.js';

const A = { dtype: 'F32', shape: [2], data_offsets: [0, 8] };
const B = { dtype: 'BF16', shape: [3], data_offsets: [8, 14] };
const DATA = Buffer.from(
  new Uint8Array([
    ...new Uint8Array(Float32Array.of(1.5, -2).buffer),
    ...new Uint8Array(Uint16Array.of(1, 2, 3).buffer),
  ]),
);

describe('reading safetensors', () => {
  const scratch = new Scratch();
  after(() => scratch.remove());

  const open = (bytes: Uint8Array): SafetensorsFile =>
    new SafetensorsFile(scratch.write('file.safetensors', bytes));

  const fault = (bytes: Uint8Array): string => {
    try {
      open(bytes);
    } catch (error) {
      expect(error).to.be.instanceOf(FoldstepError);
      expect((error as FoldstepError).code).to.equal('SAFETENSORS_INVALID');
      const { message } = error as FoldstepError;
      expect(message).to.contain(`${scratch.folder}/file.safetensors`);
      return message;
    }
    throw new Error('the file was accepted');
  };

  it('gives tensors in any order of the header, and metadata', () => {
    const file = open(safetensors({ __metadata__: { by: 'hand' }, b: B, a: A }, DATA));
    expect([...file.tensors.keys()]).to.have.members(['a', 'b']);
    expect(file.float32('a')).to.deep.equal(Float32Array.of(1.5, -2));
    expect(file.bfloat16('b')).to.deep.equal(Uint16Array.of(1, 2, 3));
    expect(file.metadata).to.deep.equal({ by: 'hand' });
  });

  it('gives int32 tensors, and no metadata where there is none', () => {
    const file = open(
      safetensors(
        { i: { dtype: 'I32', shape: [2], data_offsets: [0, 8] } },
        Buffer.from(Int32Array.of(-1, 7).buffer),
      ),
    );
    expect(file.int32('i')).to.deep.equal(Int32Array.of(-1, 7));
    expect(file.metadata).to.deep.equal({});
  });

  it('allows spaces after the header, scalars and tensors without elements', () => {
    const header = {
      none: { dtype: 'F32', shape: [0, 7], data_offsets: [0, 0] },
      scalar: { dtype: 'F32', shape: [], data_offsets: [0, 4] },
    };
    const file = open(safetensors(`${JSON.stringify(header)}   `, Buffer.alloc(4)));
    expect(file.float32('scalar')).to.deep.equal(Float32Array.of(0));
    expect(file.float32('none')).to.have.length(0);
    expect(open(safetensors({}, Buffer.alloc(0))).tensors.size).to.equal(0);
  });

  it('refuses to give a tensor as another dtype, or one that is not there', () => {
    const file = open(safetensors({ a: A }, DATA.subarray(0, 8)));
    expect(() => file.bfloat16('a'))
      .to.throw(FoldstepError, /a of .* was wanted as BF16 and is F32/)
      .with.property('code', 'INVALID_DTYPE');
    expect(() => file.float32('c'))
      .to.throw(FoldstepError, /file.safetensors has no tensor c/)
      .with.property('code', 'UNKNOWN_PARAMETER');
  });

  it('refuses a file that is not there', () => {
    expect(() => new SafetensorsFile(`${scratch.folder}/absent`))
      .to.throw(FoldstepError, /absent cannot be read: ENOENT/)
      .with.property('code', 'FILE_UNREADABLE');
  });

  it('refuses files cut short', () => {
    const whole = safetensors({ a: A, b: B }, DATA);
    expect(fault(whole.subarray(0, 5))).to.match(/has 5 bytes/);
    expect(fault(whole.subarray(0, 20))).to.match(/only 12 follow: it is cut short/);
    expect(fault(whole.subarray(0, whole.length - 1))).to.match(/end at byte 14, but only 13 are there/);
  });

  it('refuses a header longer than the format allows, before reading it', () => {
    const bytes = Buffer.alloc(16);
    bytes.writeBigUInt64LE(100_000_001n);
    expect(fault(bytes)).to.match(/claims 100000001 bytes; the format allows 100000000/);
    bytes.writeBigUInt64LE(2n ** 64n - 1n);
    expect(fault(bytes)).to.match(/claims 18446744073709551615 bytes/);
  });

  it('refuses a header that is no JSON object', () => {
    expect(fault(safetensors('', DATA))).to.match(/does not start with \{/);
    expect(fault(safetensors(' {}', DATA))).to.match(/does not start with \{/);
    expect(fault(safetensors('[1]', DATA))).to.match(/does not start with \{/);
    expect(fault(safetensors('{"a":', DATA))).to.match(/is not JSON/);
    const badUtf8 = Buffer.concat([Buffer.from('{"'), Buffer.of(0xff), Buffer.from('":1}')]);
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(badUtf8.length));
    expect(fault(Buffer.concat([length, badUtf8]))).to.match(/is not JSON/);
  });

  it('refuses a name that is there twice, also where it is spelt in another way', () => {
    const a = JSON.stringify(A);
    expect(fault(safetensors(`{"a":${a},"a":${a}}`, DATA.subarray(0, 8)))).to.match(/a is there twice/);
    expect(fault(safetensors(`{"a":${a},"\\u0061" :${a}}`, DATA.subarray(0, 8)))).to.match(
      /a is there twice/,
    );
    const twice = '{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}';
    expect(fault(safetensors(twice, DATA.subarray(0, 8)))).to.match(/dtype is there twice/);
  });

  it('takes braces, quotes and colons inside names for what they are', () => {
    const file = open(safetensors({ 'a{"b":': A, '}': B }, DATA));
    expect([...file.tensors.keys()]).to.have.members(['a{"b":', '}']);
  });

  it('refuses unknown dtypes and malformed entries', () => {
    const broken = (entry: object): string => fault(safetensors({ a: entry }, DATA.subarray(0, 8)));
    expect(broken({ ...A, dtype: 'F31' })).to.match(/tensor a has unknown dtype 'F31'/);
    expect(broken({ ...A, dtype: 'constructor' })).to.match(/unknown dtype/);
    expect(broken({ ...A, dtype: undefined })).to.match(/tensor a lacks one of dtype/);
    expect(broken({ ...A, shape: [-2] })).to.match(/shape \[-2\]/);
    expect(broken({ ...A, shape: [2.5] })).to.match(/shape \[2.5\]/);
    expect(broken({ ...A, shape: 2 })).to.match(/shape 2/);
    expect(broken({ ...A, data_offsets: [0] })).to.match(/data_offsets \[0\]/);
    expect(broken({ ...A, data_offsets: [8, 0] })).to.match(/span -8/);
    expect(broken({ ...A, data_offsets: [0, 1e300] })).to.match(/not two byte offsets/);
    expect(fault(safetensors({ a: 7 }, DATA))).to.match(/tensor a is not an object/);
    expect(fault(safetensors({ __metadata__: { n: 1 } }, Buffer.alloc(0)))).to.match(/__metadata__/);
  });

  it('refuses lengths that the shape does not give', () => {
    expect(fault(safetensors({ a: { ...A, shape: [3] } }, DATA.subarray(0, 8)))).to.match(
      /F32 \[3\], 12 bytes, but its data_offsets \[0, 8\] span 8/,
    );
    const huge = { dtype: 'F32', shape: [2 ** 40, 2 ** 40], data_offsets: [0, 8] };
    expect(fault(safetensors({ a: huge }, DATA.subarray(0, 8)))).to.match(/span 8/);
  });

  it('refuses overlap, holes and bytes left over', () => {
    const at = (begin: number): object => ({ ...B, data_offsets: [begin, begin + 6] });
    expect(fault(safetensors({ a: A, b: at(6) }, DATA))).to.match(
      /tensor b begins at byte 6, inside one that ends at 8/,
    );
    expect(fault(safetensors({ a: A, b: at(10) }, Buffer.alloc(16)))).to.match(
      /bytes 8 to 10 before tensor b/,
    );
    expect(fault(safetensors({ b: at(2) }, Buffer.alloc(8)))).to.match(/bytes 0 to 2 before tensor b/);
    expect(fault(safetensors({ a: A, b: B }, Buffer.alloc(20)))).to.match(/6 bytes after the last tensor/);
  });
});
