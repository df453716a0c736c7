import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { FoldstepError } from '#lib/errors.js';
import { SafetensorsFile, type Tensor, writeSafetensors } from '#lib/safetensors/index.js';
import { Scratch } from '../replay/files.js';

const scalar: Tensor = { shape: [], values: Float32Array.of(1.5) };

describe('writing safetensors', () => {
  const scratch = new Scratch();
  const file = join(scratch.folder, 'model.safetensors');
  after(() => scratch.remove());

  it('puts wider elements first, then goes by name, and pads the header with spaces to 8 bytes', () => {
    writeSafetensors(
      file,
      [
        ['z', { shape: [1, 3], values: Uint16Array.of(1, 2, 0x8000) }],
        ['b', { shape: [2], values: Float32Array.of(-0, 2) }],
        ['i', { shape: [1], values: Int32Array.of(-2) }],
        ['a', scalar],
      ],
      { format: 'pt' },
    );
    const text =
      '{"__metadata__":{"format":"pt"},' +
      '"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},' +
      '"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},' +
      '"i":{"dtype":"I32","shape":[1],"data_offsets":[12,16]},' +
      '"z":{"dtype":"BF16","shape":[1,3],"data_offsets":[16,22]}}';
    const padded = text.padEnd(Math.ceil(text.length / 8) * 8, ' ');
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(padded.length));
    const data = '0000c03f' + '00000080' + '00000040' + 'feffffff' + '0100' + '0200' + '0080';
    const expected = Buffer.concat([length, Buffer.from(padded), Buffer.from(data, 'hex')]);
    expect(readFileSync(file).toString('latin1')).to.equal(expected.toString('latin1'));
  });

  it('gives back every bit of every tensor, and the metadata, whatever the names', () => {
    const tensor = fc
      .tuple(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
        fc.constantFrom(Float32Array, Int32Array, Uint16Array),
        fc.integer(),
      )
      .map(([shape, ArrayType, seed]): Tensor => {
        const elements = shape.reduce((product, size) => product * size, 1);
        const bits = Uint32Array.from({ length: elements }, (_, i) => Math.imul(seed + i, 0x9e3779b1));
        return { shape, values: new ArrayType(bits.buffer, 0, elements) };
      });
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('__proto__', 'constructor', 'a"b\\{}', '\u{1f600}', '\n'),
    );
    const name = text.filter((candidate) => candidate !== '__metadata__');
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, tensor), { selector: ([key]) => key, maxLength: 8 }),
        fc.dictionary(text, text, { noNullPrototype: true }),
        (tensors, metadata) => {
          writeSafetensors(file, tensors, metadata);
          const read = new SafetensorsFile(file);
          expect(Object.entries(read.metadata)).to.have.deep.members(Object.entries(metadata));
          expect([...read.tensors.keys()]).to.have.members(tensors.map(([key]) => key));
          for (const [key, { shape, values }] of tensors) {
            expect(read.tensors.get(key)!.shape).to.deep.equal(shape);
            expect(bytes(valuesOf(read, key))).to.equal(bytes(values));
          }
        },
      ),
    );
  });

  it('gives the same bytes whatever the order, and none of the memory around the values', () => {
    const around = Float32Array.of(9, 1, 2, 9);
    const part: Tensor = { shape: [2], values: around.subarray(1, 3) };
    writeSafetensors(
      file,
      new Map([
        ['a', scalar],
        ['b', part],
      ]),
    );
    const one = readFileSync(file);
    writeSafetensors(file, Object.entries({ b: { shape: [2], values: Float32Array.of(1, 2) }, a: scalar }));
    expect(readFileSync(file).equals(one)).to.equal(true);
  });

  it('refuses, before anything is written, what is no tensor or no name', () => {
    writeFileSync(file, 'as it was');
    const refused = (tensors: [unknown, unknown][], code: string, text: RegExp, metadata?: unknown): void => {
      expect(() => writeSafetensors(file, tensors as [string, Tensor][], metadata as undefined))
        .to.throw(FoldstepError, text)
        .with.property('code', code);
    };
    refused(
      [['a', { shape: [3], values: Float32Array.of(1, 2) }]],
      'INVALID_LENGTH',
      /a: \[3\] has 3 elements, and 2/,
    );
    refused(
      [['a', { shape: [-1], values: new Float32Array() }]],
      'INVALID_SHAPE',
      /a: its shape .* \[ -1 \]/,
    );
    refused([['a', { shape: [1], values: [1] }]], 'INVALID_DTYPE', /a: its values must be a Float32Array/);
    refused(
      [
        ['a', scalar],
        ['a', scalar],
      ],
      'DUPLICATE_NAME',
      /a: it is given twice/,
    );
    refused([['__metadata__', scalar]], 'INVALID_ARGUMENT', /keeps this name for the metadata/);
    refused([[7, scalar]], 'INVALID_ARGUMENT', /must be text; it is 7/);
    refused([['\ud800', scalar]], 'INVALID_ARGUMENT', /half a character/);
    refused([['a', scalar]], 'INVALID_ARGUMENT', /metadata step must be text; it is 3/, { step: 3 });
    for (const none of [null, 7, {}]) {
      refused(none as never, 'INVALID_ARGUMENT', /tensors must be a list or/);
      refused([none as never], 'INVALID_ARGUMENT', /must come as \[name, tensor\]/);
    }
    for (const none of [undefined, null, 7])
      refused([['a', none]], 'INVALID_ARGUMENT', /a: it must be an object/);
    for (const shape of [undefined, null, 7n, '1', [1n], [Symbol('one')]]) {
      refused([['a', { ...scalar, shape }]], 'INVALID_SHAPE', /a: its shape must be/);
    }
    expect(readFileSync(file, 'utf8')).to.equal('as it was');
    expect(readdirSync(scratch.folder)).to.deep.equal(['model.safetensors']);
  });

  it('refuses metadata that could not be read again, whatever it is', () => {
    const map = new Map([['a', 'b']]);
    const others = [
      null,
      7,
      7n,
      'text',
      ['a'],
      map,
      new Set(),
      new Date(),
      () => '',
      vm.runInNewContext('[]'),
    ];
    for (const metadata of others) {
      expect(() => writeSafetensors(file, [], metadata as never))
        .to.throw(FoldstepError, /metadata must be an object of texts/)
        .with.property('code', 'INVALID_ARGUMENT');
    }
    const values = [7, 7n, null, undefined, {}, ['a'], Symbol('a'), '\ud800', '\udc00a'];
    for (const value of values) {
      expect(() => writeSafetensors(file, [], { key: value } as never)).to.throw(
        FoldstepError,
        /metadata key must be text/,
      );
    }
    expect(() => writeSafetensors(file, [], { '\ud800': 'a' })).to.throw(FoldstepError, /half a character/);
  });

  it('keeps metadata of every key, and of objects of other realms and without a prototype', () => {
    const keys = ['__proto__', 'constructor', 'toJSON', 'toString', '', '0', '__metadata__'];
    const metadata = Object.fromEntries(keys.map((key) => [key, `of ${key}`]));
    writeSafetensors(file, [], metadata);
    expect(Object.entries(new SafetensorsFile(file).metadata)).to.have.deep.members(Object.entries(metadata));
    for (const other of [
      Object.assign(Object.create(null), { a: 'b' }),
      vm.runInNewContext('({ a: "b" })'),
    ]) {
      writeSafetensors(file, [], other);
      expect(new SafetensorsFile(file).metadata).to.deep.equal({ a: 'b' });
    }
  });

  it('takes arrays of another realm and of shared memory for what they are', () => {
    const shared = new Float32Array(new SharedArrayBuffer(16), 4, 2);
    shared.set([3, 4]);
    writeSafetensors(file, [
      ['float', vm.runInNewContext('({ shape: [2], values: Float32Array.of(1, 2) })')],
      ['bits', { shape: [1], values: vm.runInNewContext('Uint16Array.of(0x3f80)') }],
      ['shared', { shape: [2], values: shared }],
    ]);
    const read = new SafetensorsFile(file);
    expect(read.float32('float')).to.deep.equal(Float32Array.of(1, 2));
    expect(read.bfloat16('bits')).to.deep.equal(Uint16Array.of(0x3f80));
    expect(read.float32('shared')).to.deep.equal(Float32Array.of(3, 4));
    expect(() =>
      writeSafetensors(file, [['a', { shape: [1], values: vm.runInNewContext('Float64Array.of(1)') }]]),
    )
      .to.throw(FoldstepError, /its values must be a Float32Array/)
      .with.property('code', 'INVALID_DTYPE');
  });

  it('follows a link, and refuses what is no regular file', () => {
    const [link, pipe] = [join(scratch.folder, 'link'), join(scratch.folder, 'pipe')];
    symlinkSync(file, link);
    writeSafetensors(link, [['a', scalar]]);
    expect(lstatSync(link).isSymbolicLink()).to.equal(true);
    expect([...new SafetensorsFile(file).float32('a')]).to.deep.equal([1.5]);
    execFileSync('mkfifo', [pipe]);
    expect(() => writeSafetensors(pipe, [['a', scalar]]))
      .to.throw(FoldstepError, /no regular file/)
      .with.property('code', 'FILE_UNWRITABLE');
    expect(lstatSync(pipe).isFIFO()).to.equal(true);
    for (const made of [link, pipe]) rmSync(made);
  });

  it('says which file cannot be written, and leaves nothing beside it', () => {
    const taken = join(scratch.folder, 'folder');
    mkdirSync(join(taken, 'within'), { recursive: true });
    for (const target of [taken, join(scratch.folder, 'absent', 'file')]) {
      expect(() => writeSafetensors(target, [['a', scalar]]))
        .to.throw(FoldstepError, `${target} cannot be written`)
        .with.property('code', 'FILE_UNWRITABLE');
    }
    expect(readdirSync(scratch.folder)).to.have.members(['folder', 'model.safetensors']);
  });
});

function valuesOf(file: SafetensorsFile, name: string): Tensor['values'] {
  const { dtype } = file.tensors.get(name)!;
  if (dtype === 'F32') return file.float32(name);
  return dtype === 'I32' ? file.int32(name) : file.bfloat16(name);
}

function bytes({ buffer, byteOffset, byteLength }: Tensor['values']): string {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString('hex');
}
