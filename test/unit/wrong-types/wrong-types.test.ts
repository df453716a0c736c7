import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FoldedOptimizer, FoldstepError, PreparedOperation, type Stream, toBFloat16 } from '#lib/index.js';
import { writeSafetensors } from '#lib/safetensors/index.js';
import { alter } from './places.js';
import { callablesOf, calleeOf, EXPORTS, isClass } from './surface.js';
import { argumentsOf, makersOf } from './table.js';
import { WRONG_VALUES, type WrongValue } from './values.js';
import { World } from './world.js';

/** Classes that are reached without being exported. */
const REACHED = ['Routing', 'Bucket'];
/** A message may name some fields and show a value, and a path or two. */
const LONGEST_MESSAGE = 1500;
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

const here = process.cwd();
const folder = mkdtempSync(join(tmpdir(), 'foldstep-'));
process.chdir(folder);
writeSafetensors('right', [
  ['a', { shape: [2], values: Float32Array.of(1, 2) }],
  ['b', { shape: [2], values: Uint16Array.of(1, 2) }],
  ['i', { shape: [2], values: Int32Array.of(1, 2) }],
]);
const world = await World.open();
const table = argumentsOf(world);
const makers = makersOf(world);
const values: readonly WrongValue[] = [...WRONG_VALUES, ...world.mistakes()];
process.chdir(here);

describe('calls with wrong types', () => {
  before(() => process.chdir(folder));
  after(() => {
    process.chdir(here);
    world.dispose();
    rmSync(folder, { recursive: true });
  });

  it('are tried on everything that is exported', () => {
    const callables = Object.keys(EXPORTS).flatMap(callablesOf);
    const tried = Object.keys(table).filter((name) => !REACHED.includes(name.split('#')[0]!));
    expect(tried.sort()).to.deep.equal(callables.sort());
  });

  for (const [name, args] of Object.entries(table)) {
    it(`of ${name} throw nothing but FoldstepErrors`, async () => {
      const call = await calleeOf(name, makers[name.split('#')[0]!]!);
      const faults: string[] = [];
      for (const [what, make] of values) {
        for (const { where, args: wrong } of alter(args, make)) {
          const fault = await faultOf(name, () => call(...wrong));
          if (fault !== undefined) faults.push(`${what} as ${where}: ${fault}`);
        }
      }
      expect(faults.join('\n')).to.equal('');
      await stillTrains();
    });
  }
});

/** What a call throws that it must not. */
async function faultOf(name: string, call: () => unknown): Promise<string | undefined> {
  try {
    const result = await call();
    if (result instanceof PreparedOperation) result.enqueue(...valuesOf(name));
    await world.settle();
    if (name === 'Device') (result as World['device']).stream.dispose();
    // What a constructor made may share its handle with the table.
    else if (!isClass(EXPORTS[name])) (result as Partial<Disposable> | undefined)?.[Symbol.dispose]?.();
  } catch (error) {
    if (!(error instanceof FoldstepError)) return lines(error);
    const { message } = error;
    if (message.length > LONGEST_MESSAGE) return `a message of ${message.length} characters`;
    if (UNSAFE.test(message)) return `an unsafe message: ${JSON.stringify(message)}`;
  }
  return undefined;
}

/** What an operation that a call prepared is enqueued with. */
function valuesOf(name: string): [stream?: Stream, ...values: number[]] {
  return name === 'Device#prepareUpdate' ? [world.device.stream, 1, 1] : [];
}

/** An error and where it was thrown. */
function lines(error: unknown): string {
  return String((error as Error)?.stack ?? error)
    .split('\n', 2)
    .join('');
}

/** A step on the device that all the calls had: 1 - 1 * 0.5 for every element, with a norm of 1 that is not clipped. */
async function stillTrains(): Promise<void> {
  using optimizer = await FoldedOptimizer.create({ ...world.optimizerOptions(), maxNorm: null });
  for (const { name, localSize } of optimizer.parameters) {
    optimizer.load(name, new Float32Array(localSize).fill(1));
    optimizer.gradient(name).fill(0.5);
  }
  await optimizer.accumulate();
  await optimizer.step();
  expect(optimizer.weight('q')).to.deep.equal(toBFloat16(Float32Array.of(0.5, 0.5)));
}
