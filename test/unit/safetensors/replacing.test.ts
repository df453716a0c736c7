import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { SafetensorsFile, writeSafetensors } from '#lib/safetensors/index.js';
import { Scratch } from '../replay/files.js';

const MODULE = new URL('../../../../dist/safetensors/index.js', import.meta.url).href;
/** What a killed writer on a host of another name leaves. */
const FOREIGN = '.foldstep-0123456789abcdef-77-1234-0123456789abcdef.tmp';
const DAY_S = 24 * 60 * 60;

describe('replacing a file', () => {
  const scratch = new Scratch();
  const folder = join(scratch.folder, 'models');
  const file = join(folder, 'model.safetensors');
  beforeEach(() => mkdirSync(folder));
  afterEach(() => rmSync(folder, { recursive: true }));
  after(() => scratch.remove());

  const save = (value: number, to = file): void =>
    writeSafetensors(to, [['t', { shape: [1], values: Float32Array.of(value) }]]);
  const saved = (): number => new SafetensorsFile(file).float32('t')[0]!;
  const modeOf = (path: string): number => statSync(path).mode & 0o7777;

  it('keeps its mode, and gives a new one what the process gives', () => {
    save(1);
    expect(modeOf(file)).to.equal(0o666 & ~process.umask());
    for (const mode of [0o600, 0o640, 0o444, 0o777]) {
      chmodSync(file, mode);
      save(2);
      expect(modeOf(file)).to.equal(mode);
    }
  });

  it('keeps its owner and group where they may be given, and its mode in any case', () => {
    save(1);
    // Root alone gives files away: others keep what is theirs.
    const [uid, gid] = process.getuid!() === 0 ? [12345, 54321] : [process.getuid!(), process.getgid!()];
    chownSync(file, uid, gid);
    chmodSync(file, 0o640);
    save(2);
    const { uid: keptUser, gid: keptGroup } = statSync(file);
    expect([keptUser, keptGroup, modeOf(file)]).to.deep.equal([uid, gid, 0o640]);
  });

  it('makes what a dangling link names, through further links, and leaves the links', () => {
    const real = join(scratch.folder, 'real');
    mkdirSync(real);
    symlinkSync(real, join(folder, 'elsewhere'));
    // Relative to where the link really lies, which `real/..` tells apart from `models/..`.
    symlinkSync('../model.bin', join(real, 'second'));
    symlinkSync('elsewhere/second', join(folder, 'first'));
    save(7, join(folder, 'first'));
    expect(lstatSync(join(folder, 'first')).isSymbolicLink()).to.equal(true);
    expect(lstatSync(join(real, 'second')).isSymbolicLink()).to.equal(true);
    expect(new SafetensorsFile(join(scratch.folder, 'model.bin')).float32('t')[0]).to.equal(7);
    symlinkSync('loop', join(folder, 'loop'));
    expect(() => save(7, join(folder, 'loop'))).to.throw(/cannot be written: ELOOP/);
  });

  it('is no failure where the folder cannot be synced', () => {
    // As an fsync of a folder on FUSE or SMB: the file system's answer stands in for one, which tests cannot mount.
    const script = `
      const fs = require('node:fs');
      const { fsyncSync } = fs;
      fs.fsyncSync = (fd) => {
        if (fs.fstatSync(fd).isDirectory()) throw Object.assign(new Error('EINVAL'), { code: process.argv[1] });
        fsyncSync(fd);
      };
      require('node:module').syncBuiltinESMExports();
      import('${MODULE}').then(({ writeSafetensors }) =>
        writeSafetensors(process.argv[2], [['t', { shape: [1], values: Float32Array.of(7) }]]));`;
    const write = (code: string) =>
      spawnSync(process.execPath, ['-e', script, code, file], { encoding: 'utf8' });
    for (const code of ['EINVAL', 'ENOTSUP']) {
      rmSync(file, { force: true });
      expect(write(code).stderr).to.equal('');
      expect(saved()).to.equal(7);
    }
    expect(write('EIO').stderr).to.contain('FILE_UNWRITABLE');
    expect(readdirSync(folder)).to.deep.equal(['model.safetensors']);
  });

  it('removes what a killed writer left, and nothing that a living one still writes', async () => {
    const script = `
      import('${MODULE}').then(({ writeSafetensors }) => {
        const values = new Float32Array(5_000_000);
        for (;;) writeSafetensors('${file}', [['t', { shape: [values.length], values }]]);
      });`;
    const writer = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
    const temporary = () => readdirSync(folder).filter((name) => name.endsWith('.tmp'));
    const ended = once(writer, 'exit');
    // It may be stopped after the end of one file and before the next.
    do {
      writer.kill('SIGCONT');
      await sleep(1);
      writer.kill('SIGSTOP');
      while (!readFileSync(`/proc/${writer.pid}/stat`, 'utf8').includes(') T ')) await sleep(1);
    } while (temporary().length === 0);
    const left = temporary();
    save(1);
    expect(temporary(), 'of a stopped writer').to.deep.equal(left);
    writer.kill('SIGKILL');
    await ended;
    save(2);
    expect(readdirSync(folder), 'of a killed one').to.deep.equal(['model.safetensors']);
    expect(saved()).to.equal(2);
  });

  it('removes what another host left after a day, and no file of another name', () => {
    const foreign = join(folder, FOREIGN);
    const others = ['.foldstep-notes.tmp', 'model.tmp', `${FOREIGN}x`];
    const now = Date.now() / 1000;
    const made = (name: string, ageInSeconds: number): void => {
      writeFileSync(join(folder, name), '');
      utimesSync(join(folder, name), now - ageInSeconds, now - ageInSeconds);
    };
    for (const name of others) made(name, 3 * DAY_S);
    made(FOREIGN, DAY_S - 3600);
    save(1);
    expect(existsSync(foreign)).to.equal(true);
    made(FOREIGN, DAY_S + 3600);
    save(1);
    expect(readdirSync(folder)).to.have.members([...others, 'model.safetensors']);
  });
});
