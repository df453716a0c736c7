import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { SafetensorsFile, writeSafetensors } from '#lib/safetensors/index.js';
import { Scratch, safetensors } from '../replay/files.js';

const LONGEST_MESSAGE = 1500;
const ESCAPE = '\u001b[2J';

describe('hostile headers', () => {
  const scratch = new Scratch();
  after(() => scratch.remove());

  /** What is said of a header that is refused. */
  const fault = (header: unknown): string => {
    const file = scratch.write('file.safetensors', safetensors(header, Buffer.alloc(4)));
    try {
      new SafetensorsFile(file);
    } catch (error) {
      expect(error).to.be.instanceOf(FoldstepError).with.property('code', 'SAFETENSORS_INVALID');
      const { message } = error as Error;
      expect(message.length).to.be.below(LONGEST_MESSAGE);
      expect(message).not.to.match(/[\p{Cc}\u202e\u2028]/u);
      return message;
    }
    throw new Error('the file was accepted');
  };

  const tensor = { dtype: 'F32', shape: [1], data_offsets: [0, 4] };

  it('that nest deep are refused wherever they do', () => {
    for (const depth of [5000, 2_000_000]) {
      const [open, close] = ['['.repeat(depth), ']'.repeat(depth)];
      const nested = '{"":'.repeat(depth);
      for (const value of [`${open}${close}`, open, nested, `${nested}0${'}'.repeat(depth)}`]) {
        expect(fault(`{"t":{"dtype":"F32","data_offsets":[0,4],"shape":${value}}}`)).to.match(
          /nest more than 128/,
        );
        expect(fault(`{"t":{"dtype":"F32","data_offsets":[0,4],"shape":[1],"x":${value}}}`)).to.match(
          /nest more/,
        );
      }
      expect(fault(`{"t":${open}${close}}`)).to.match(/nest more than 128/);
    }
  });

  it('with a text of millions of escapes are read, since ours are written so', () => {
    const file = `${scratch.folder}/escapes.safetensors`;
    const tokenizer = '"'.repeat(4_000_000);
    writeSafetensors(file, [], { tokenizer });
    expect(new SafetensorsFile(file).metadata['tokenizer']).to.equal(tokenizer);
  });

  it('with ten thousands of names are read, and the one that is there twice is found', () => {
    const names = Array.from({ length: 50_000 }, (_, i) => `layer.${i}`);
    const empty = '{"dtype":"F32","shape":[0],"data_offsets":[0,0]}';
    const entries = names.map((name) => `"${name}":${empty}`);
    entries[0] = '"layer.0":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}';
    const file = scratch.write('many', safetensors(`{${entries.join()}}`, Buffer.alloc(4)));
    expect([...new SafetensorsFile(file).tensors.keys()]).to.deep.equal(names);
    expect(fault(`{${entries.join()},"layer.\\u0034\\u0032":${empty}}`)).to.match(/layer\.42 is there twice/);
  });

  it('with more texts of metadata than can be meant are refused, and not written', () => {
    const texts = Array.from({ length: 100_001 }, (_, i) => [`key${i}`, ''] as const);
    expect(fault({ __metadata__: Object.fromEntries(texts) })).to.match(
      /__metadata__ has more than 100000 texts/,
    );
    const file = `${scratch.folder}/metadata.safetensors`;
    expect(() => writeSafetensors(file, [], Object.fromEntries(texts)))
      .to.throw(FoldstepError, 'metadata may have 100000 texts; it has 100001')
      .with.property('code', 'INVALID_ARGUMENT');
    writeSafetensors(file, [], Object.fromEntries(texts.slice(1)));
    expect(Object.keys(new SafetensorsFile(file).metadata)).to.have.length(100_000);
  });

  it('are shown in bounded messages, and without what a terminal obeys', () => {
    const long = 'x'.repeat(1_000_000);
    const sizes = Array.from({ length: 100_000 }, () => 1);
    expect(fault({ [long]: 7 })).to.match(/\(1000000 characters\) is not an object/);
    expect(fault({ t: { ...tensor, dtype: long } })).to.match(/unknown dtype 'xxx/);
    expect(fault({ t: { ...tensor, shape: long } })).to.match(/has shape "xxx/);
    expect(fault({ t: { ...tensor, shape: [long, ESCAPE] } })).to.match(/has shape \["xxx/);
    expect(fault({ t: { ...tensor, shape: [...sizes, 2] } })).to.match(
      /F32 \[1, 1, .*100001 sizes\], 8 bytes/,
    );
    expect(fault({ t: { ...tensor, data_offsets: sizes } })).to.match(/has data_offsets \[1,1/);
    expect(fault(`{"${long}":0,"${long}":0}`)).to.match(/is not an object/);
    expect(fault(`{"t":{"${long}":0,"${long}":0}}`)).to.match(/is there twice/);
    expect(fault({ t: tensor, [`${ESCAPE}\u202e\u2028`]: tensor })).to.contain(
      '\\u{001b}[2J\\u{202e}\\u{2028}',
    );
    expect(fault({ t: { ...tensor, dtype: `F${ESCAPE}` } })).to.contain("'F\\u{001b}[2J'");
    expect(fault(`{"t":\u001b}`)).to.contain("there is '\\u{001b}' where a value should be");
  });

  it('that are almost JSON are refused where they stop being it', () => {
    const faults: [header: string, says: RegExp][] = [
      ['{"t" 1}', /at byte 5 there is '1' where : should be/],
      ['{"__metadata__":{},}', /at byte 19 there is '}' where " should be/],
      ['{"t":{"a":01}}', /at byte 11 there is '1' where } should be/],
      ['{"t":{"a":1.}}', /there is '}' where a digit should be/],
      ['{"t":{"a":-}}', /there is '}' where a digit should be/],
      ['{"t":{"a":1e+}}', /there is '}' where a digit should be/],
      ['{"t":{"a":nul}}', /there is 'n' where a value should be/],
      ['{"t":{"a":[1,]}}', /there is ']' where a value should be/],
      ['{"t":{"a":[1}}', /there is '}' where ] should be/],
      ['{"t":{"a":"\n"}}', /the text at byte 10 has a control character/],
      ['{"t":{"a":"\\x"}}', /the text at byte 10 has an escape that is none/],
      ['{"t":{"a":"\\u12"}}', /has an escape that is none/],
      ['{"t":{"a":"b', /the text at byte 10 does not end/],
      ['{"__metadata__":{}} x', /at byte 20 there is 'x' where nothing more should be/],
      ['{"__metadata__":{}', /at byte 18 it ends where } should be/],
    ];
    for (const [header, says] of faults) expect(fault(header), header).to.match(says);
  });

  it('whose sizes cannot be counted are refused', () => {
    for (const size of [
      '1e0',
      '1.0',
      '-0',
      '9007199254740992',
      `1${'0'.repeat(1000)}`,
      'null',
      '"1"',
      '[1]',
    ]) {
      expect(fault(`{"t":{"dtype":"F32","shape":[${size}],"data_offsets":[0,4]}}`), size).to.match(
        /not a list of sizes/,
      );
      expect(fault(`{"t":{"dtype":"F32","shape":[1],"data_offsets":[${size},4]}}`), size).to.match(
        /not two byte offsets/,
      );
    }
    const large = 2 ** 40;
    expect(fault({ t: { ...tensor, shape: [large, large] } })).to.match(/no number of bytes that can be/);
    expect(fault({ t: { ...tensor, shape: [large, large, 0], data_offsets: [0, 0] } })).to.match(
      /no number of bytes/,
    );
  });
});
