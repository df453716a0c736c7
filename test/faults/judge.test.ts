import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeSafetensors } from '#lib/safetensors/index.js';
import { APART, AWAITED, GONE, killedBy, line } from './catalogue/words.js';
import { draw } from './draw.js';
import type { Seen } from './job.js';
import { judge } from './judge.js';
import { expected } from './training.js';

describe("the campaign's judge", () => {
  let folder: string;
  let save: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldstep-judge-'));
    save = join(folder, 'masters.safetensors');
  });
  afterEach(() => rmSync(save, { force: true }));
  after(() => rmSync(folder, { recursive: true }));

  const plan = { ...draw({ seed: 1, runs: 1 })[0]!, culprit: 1 };
  const killed = { code: 'failure', named: line(killedBy('SIGKILL')) } as const;
  const harmless = { code: 0 } as const;
  const seen = (other: Partial<Seen> = {}): Seen => ({
    code: 137,
    output: 'rank 0 has made step 0\nfoldstep run: rank 1 was killed by SIGKILL\n',
    struck: true,
    processes: [],
    files: [],
    save,
    tookMs: 1,
    ...other,
  });
  const kinds = (...args: Parameters<typeof judge>) => judge(...args).map(({ kind }) => kind);
  const saveMasters = (steps: number, change = 0) => {
    const values = Float32Array.from({ length: 13 }, (_, i) => expected(i, steps) + change);
    writeSafetensors(save, [['norm', { shape: [13], values }]], { steps: `${steps}` });
  };

  it('holds a failure with a code that is not 0, with the culprit named, and with nothing left', () => {
    expect(judge(plan, killed, seen())).to.deep.equal([]);
  });

  it('finds a job that had to be ended, a code of 0 after a failure, and one that is not 0 after none', () => {
    expect(kinds(plan, killed, seen({ code: undefined, processes: ['1 (sleeping): node'] }))).to.deep.equal([
      'hang',
    ]);
    expect(kinds(plan, killed, seen({ code: 0 }))).to.deep.equal(['exit code']);
    expect(kinds(plan, { code: 3 }, seen({ code: 1 }))).to.deep.equal(['exit code']);
    saveMasters(3);
    expect(kinds(plan, harmless, seen({ code: 1 }))).to.deep.equal(['exit code']);
  });

  it('wants a line that names the culprit, alone or in a list, as what it is', () => {
    const names = (output: string, ...texts: string[]) =>
      kinds(plan, { code: 'failure', named: line(...texts) }, seen({ output })).length === 0;
    expect(names('x: rank 1 was killed by SIGKILL; x', killedBy('SIGKILL'))).to.equal(true);
    expect(names('rank 12 was killed by SIGKILL', killedBy('SIGKILL'))).to.equal(false);
    expect(names('rank 1\nwas killed by SIGKILL', killedBy('SIGKILL'))).to.equal(false);
    expect(names('', killedBy('SIGKILL'))).to.equal(false);
    expect(names('ranks 0, 1, 2 did not come', AWAITED)).to.equal(true);
    expect(names('rank 1 (process 77) is stopped', AWAITED)).to.equal(true);
    expect(names('rank 0 waited 3 s in vain for ranks 1 and 2', AWAITED)).to.equal(true);
    expect(names('rank 1 waited 3 s in vain for rank 0', AWAITED)).to.equal(false);
    expect(names('rates differ: rank 0 has 1, rank 1 has 2', GONE, APART)).to.equal(true);
    expect(names('rank 0 has gone, but rank 1 waits', GONE, APART)).to.equal(false);
  });

  it('finds what a launcher says that falls over', () => {
    const output = `${seen().output}[vm:1] *** Process received signal ***\n`;
    expect(kinds(plan, killed, seen({ output }))).to.deep.equal(['noise']);
  });

  it('finds files that are left; one that a killed writer leaves is none, and neither is what is saved', () => {
    saveMasters(1);
    const leaves = (file: string, code: number) => kinds(plan, killed, seen({ files: [file], code }));
    expect(leaves('/x/tmp/ompi.host.0', 137)).to.deep.equal(['left behind']);
    expect(leaves(save, 137)).to.deep.equal([]);
    expect(leaves('/x/save/.masters.safetensors.1234.tmp', 137)).to.deep.equal([]);
    expect(leaves('/x/save/.masters.safetensors.1234.tmp', 0)).to.deep.equal(['exit code', 'left behind']);
  });

  it('finds a result that is wrong, not whole, not of the last step, or not there', () => {
    const found = (right: Parameters<typeof judge>[1], code: number) => kinds(plan, right, seen({ code }));
    expect(found(harmless, 0)).to.deep.equal(['result']);
    saveMasters(2);
    expect(found(killed, 137)).to.deep.equal([]);
    expect(found(harmless, 0)).to.deep.equal(['result']);
    saveMasters(3);
    expect(found(harmless, 0)).to.deep.equal([]);
    saveMasters(2, 0.01);
    expect(found(killed, 137)).to.deep.equal(['result']);
    writeFileSync(save, 'half of a fi');
    expect(found(killed, 137)).to.deep.equal(['result']);
  });

  it('finds a fault that never struck', () => {
    expect(kinds(plan, killed, seen({ struck: false }))).to.deep.equal(['not struck']);
  });
});
