import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { SafetensorsFile } from '#lib/safetensors/file.js';
import { mutateBytes, mutateText } from './json-text.js';
import { Random } from './random.js';
import { Tally } from './tally.js';

/** Valid headers, and the bytes of tensors that belong to them. */
const VALID: readonly { header: string; bytes: number }[] = [
  {
    header:
      '{"__metadata__":{"format":"pt","b":"\\u00e9"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},' +
      '"b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},"s":{"dtype":"I32","shape":[],"data_offsets":[32,36]}}',
    bytes: 36,
  },
  {
    header:
      '{"h":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}, "e":{"shape":[0,5],"dtype":"F64","data_offsets":[8,8]},\n' +
      '"q":{"data_offsets":[8,12],"dtype":"F4","shape":[8]},"f":{"dtype":"F8_E4M3","shape":[1,1,4],"data_offsets":[12,16]}}  ',
    bytes: 16,
  },
  { header: '{"a\\"{}":{"dtype":"U8","x":{"y":[1,{"z":null}]},"shape":[3],"data_offsets":[0,3]}}', bytes: 3 },
  { header: '{}', bytes: 0 },
];
const OWN = [
  ...[
    '"dtype"',
    '"shape"',
    '"data_offsets"',
    '"F32"',
    '"F64"',
    '"F16"',
    '"I64"',
    '"F4"',
    '"F6_E2M3"',
    '"C64"',
    '"F31"',
  ],
  ...[
    '"w":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},',
    '"dtype":"F32",',
    '"shape":[1],',
    '"__metadata__":{},',
  ],
];
const LENGTHS = [
  0n,
  1n,
  7n,
  8n,
  100_000_000n,
  100_000_001n,
  2n ** 31n,
  2n ** 32n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n - 1n,
];
const CODES = ['SAFETENSORS_INVALID'];

/** Opens mutated files, `count` of them, in a folder; what is accepted is read. */
export function mutateHeaders(folder: string, count: number, seed: number): Tally {
  const random = new Random(seed);
  const tally = new Tally();
  const file = join(folder, 'mutated.safetensors');
  for (let number = 0; number < count; number++) {
    const bytes = mutated(random);
    // A new file: to write over one that is there takes many times longer on some file systems.
    rmSync(file, { force: true });
    writeFileSync(file, bytes);
    let opened: SafetensorsFile | undefined;
    const error = tally.take(number, CODES, () => {
      opened = new SafetensorsFile(file);
    });
    try {
      if (opened) checkAccepted(opened, bytes);
      else checkRefused(error!.message, bytes);
    } catch (fault) {
      tally.faults.push(`${number}: ${(fault as Error).message}`);
    }
  }
  return tally;
}

function mutated(random: Random): Buffer {
  const { header, bytes } = random.one(VALID);
  let text = header;
  for (let n = random.one([0, 1, 1, 1, 2, 3]); n > 0; n--) text = mutateText(text, OWN, random);
  let head: Buffer = Buffer.from(text);
  if (random.chance(6)) head = mutateBytes(head, random);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(random.chance(20) ? random.one(LENGTHS) : BigInt(head.length));
  const data = Buffer.alloc(random.chance(20) ? random.below(64) : bytes, 0x3c);
  const whole = Buffer.concat([length, head, data]);
  return random.chance(40) ? mutateBytes(whole, random) : whole;
}

/** That the file says what `JSON.parse` makes of its header, and gives all its tensors. */
function checkAccepted(file: SafetensorsFile, bytes: Buffer): void {
  const end = 8 + Number(bytes.readBigUInt64LE());
  const { __metadata__: metadata = {}, ...tensors } = JSON.parse(bytes.toString('utf8', 8, end));
  expect(file.metadata).to.deep.equal(metadata);
  expect([...file.tensors.keys()]).to.have.members(Object.keys(tensors));
  for (const [name, { dtype, shape, begin, end: last }] of file.tensors) {
    const { dtype: wantedType, shape: wantedShape, data_offsets: offsets } = tensors[name];
    expect([dtype, shape, begin, last]).to.deep.equal([wantedType, wantedShape, ...offsets]);
    expect(file.bytes(name)).to.deep.equal(new Uint8Array(bytes.subarray(end + begin, end + last)));
  }
}

/** That what is refused as no JSON is none, but for what `JSON.parse` does not see. */
function checkRefused(message: string, bytes: Buffer): void {
  const [, fault] = /not JSON that can be read: (.*)$/.exec(message) ?? [];
  if (fault === undefined || /twice$|levels deep$|not UTF-8$/.test(fault)) return;
  const text = bytes.toString('utf8', 8, 8 + Number(bytes.readBigUInt64LE()));
  expect(() => JSON.parse(text), message).to.throw(SyntaxError);
}
