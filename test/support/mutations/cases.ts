import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReplayCase } from '#lib/replay/case.js';
import { fixture } from '../../unit/replay/files.js';
import { mutateBytes, mutateText } from './json-text.js';
import { Random } from './random.js';
import { Tally } from './tally.js';

const CASES = [
  'midpoint',
  'native-experts',
  'infinity-in-one-expert',
  'mixed-experts',
  'unequal-microbatches',
];
const OWN = [
  ...[
    '"mesh"',
    '"world"',
    '"pp"',
    '"tp"',
    '"ep"',
    '"etp"',
    '"native"',
    '"training"',
    '"microbatches"',
    '"steps"',
  ],
  ...[
    '"dense"',
    '"router"',
    '"expert"',
    '"native-expert"',
    '"tensor-sharded"',
    '"sequence-norm"',
    '"sgd"',
    '"adamw"',
  ],
  ...[
    '"fp32"',
    '"bf16"',
    '{"axis":"ep","dim":0}',
    '{"axis":"tp","dim":1}',
    '{"axis":"x","dim":9}',
    '"skipped"',
  ],
  ...[
    '{"native":{"ep":2,"etp":1}}',
    '"betas":[0.9,0.999],',
    '"eps":1e-8,',
    '"partition":[],',
    '"version":1,',
  ],
];
const TENSOR_OWN = [
  '"F32"',
  '"BF16"',
  '"F16"',
  '"step-1/micro-1/w"',
  '"step-1/master/w"',
  '"final/exp_avg/w"',
  '"w"',
];
/** FP32 and BF16 of them are NaN, infinite, and the largest. */
const WORDS = [0x7fc0_0000, 0x7f80_0000, 0xff80_0000, 0x7fff_ffff, 0x7f7f_ffff, 0];
const CODES = ['CASE_UNREADABLE', 'SAFETENSORS_INVALID'];

/** A case's files by name. */
type Files = ReadonlyMap<string, Buffer>;

/** Reads mutated cases, `count` of them, in a folder, without starting ranks. */
export function mutateCases(folder: string, count: number, seed: number): Tally {
  const random = new Random(seed);
  const tally = new Tally();
  const originals = CASES.map((name) => {
    const path = join(folder, name);
    cpSync(fixture(name), path, { recursive: true });
    return { path, files: filesIn(path) };
  });
  for (let number = 0; number < count; number++) {
    const { path, files } = random.one(originals);
    const changed = new Set<string>();
    for (let n = random.one([1, 1, 1, 2, 3]); n > 0; n--) changed.add(change(path, files, random));
    tally.take(number, CODES, () => new ReplayCase(path).verify());
    for (const name of changed) {
      rmSync(join(path, name), { recursive: true, force: true });
      const original = files.get(name);
      if (original) writeFileSync(join(path, name), original);
    }
  }
  return tally;
}

function filesIn(path: string): Files {
  return new Map(readdirSync(path).map((name) => [name, readFileSync(join(path, name))]));
}

/** Changes one file of a case; gives its name. */
function change(path: string, files: Files, random: Random): string {
  const name = random.chance(2) ? 'case.json' : random.one([...files.keys()]);
  const file = join(path, name);
  if (random.chance(50)) {
    rmSync(file, { recursive: true, force: true });
    if (random.chance(2)) mkdirSync(file);
    return name;
  }
  const bytes = files.get(name)!;
  rmSync(file, { recursive: true, force: true });
  if (random.chance(12)) writeFileSync(file, mutateBytes(bytes, random));
  else if (name === 'case.json') writeFileSync(file, mutateText(bytes.toString(), OWN, random));
  else writeFileSync(file, mutateTensors(bytes, random));
  return name;
}

function mutateTensors(bytes: Buffer, random: Random): Buffer {
  const end = 8 + Number(bytes.readBigUInt64LE());
  let header: Buffer = bytes.subarray(8, end);
  const data = Buffer.from(bytes.subarray(end));
  if (random.chance(3) && data.length >= 4) {
    data.writeUInt32LE(random.one(WORDS), 4 * random.below(Math.floor(data.length / 4)));
  } else if (random.chance(3)) header = withoutOrBeside(header, random);
  else header = Buffer.from(mutateText(header.toString(), TENSOR_OWN, random));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, data]);
}

/** A header with a tensor under another name, of another shape, or with one more beside. The bytes stay accounted for. */
function withoutOrBeside(header: Buffer, random: Random): Buffer {
  const tensors = JSON.parse(header.toString()) as Record<string, { shape?: number[] }>;
  const name = random.one(Object.keys(tensors));
  const { [name]: tensor, ...others } = tensors;
  const renamed = { ...others, [`${name}x`]: tensor };
  const reshaped = { ...others, [name]: { ...tensor, shape: [1, ...(tensor?.shape ?? [])] } };
  const beside = { ...tensors, more: { dtype: 'F32', shape: [0], data_offsets: [0, 0] } };
  return Buffer.from(JSON.stringify(random.one<object>([renamed, reshaped, beside])));
}
