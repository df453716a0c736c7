import { readFileSync, renameSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { SafetensorsFile } from '#lib/safetensors/file.js';
import { writeSafetensors } from '#lib/safetensors/write.js';
import { Scratch } from '../replay/files.js';

describe('a safetensors file that changes after it was opened', () => {
  const scratch = new Scratch();
  const path = join(scratch.folder, 'model.safetensors');
  after(() => scratch.remove());

  const write = (file: string, name: string, ...values: number[]): void =>
    writeSafetensors(file, [[name, { shape: [values.length], values: Float32Array.from(values) }]]);

  /** That a file of one tensor is read before `change`, refused after it, and read when it is opened anew. */
  async function refusedAfter(change: (stats: { atime: Date; mtime: Date }) => void): Promise<void> {
    write(path, 't', 1, 2);
    const file = new SafetensorsFile(path);
    expect(file.float32('t')).to.deep.equal(Float32Array.of(1, 2));
    // Longer than a tick of the clock that a file system stamps its files with.
    await sleep(20);
    change(statSync(path));
    for (const read of [() => file.float32('t'), () => file.bytes('t', 0, 1)]) {
      expect(read)
        .to.throw(FoldstepError, `${path} cannot be read: it changed after it was opened; open it anew`)
        .with.property('code', 'FILE_UNREADABLE');
    }
  }

  it('is refused when another took its place, also one of the same size', async () => {
    // Read with the old header this would be 3 and 4 of another tensor.
    await refusedAfter(() => write(path, 'u', 3, 4));
    expect(new SafetensorsFile(path).float32('u')).to.deep.equal(Float32Array.of(3, 4));
    await refusedAfter(() => {
      const other = join(scratch.folder, 'other');
      write(other, 't', 1, 2, 3, 4);
      renameSync(other, path);
    });
  });

  it('is refused when it was written to in place, also where its time was set back', async () => {
    await refusedAfter(({ atime, mtime }) => {
      const bytes = readFileSync(path);
      bytes.writeFloatLE(9, bytes.length - 4);
      writeFileSync(path, bytes);
      utimesSync(path, atime, mtime);
    });
  });

  it('is refused when it was cut short', async () => {
    await refusedAfter(() => truncateSync(path, statSync(path).size - 4));
  });

  it('is refused when it is gone', () => {
    write(path, 't', 1);
    const file = new SafetensorsFile(path);
    rmSync(path);
    expect(() => file.float32('t'))
      .to.throw(FoldstepError, /cannot be read: ENOENT/)
      .with.property('code', 'FILE_UNREADABLE');
  });
});
