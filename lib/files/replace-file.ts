import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FoldstepError } from '../errors.js';

/** Linux writes at most 2 GiB at a time. */
const LARGEST_WRITE = 2 ** 30;

/**
 * Makes `parts`, one after the other, the content of a file: all of it or, where that fails, none, and what was there stays.
 * Others never see a file that is half written, and a host that loses its power has the old one or the new one. A link is
 * followed. Throws FILE_UNWRITABLE, naming the file, also for what is there and no regular file.
 */
export function replaceFile(file: string, parts: Iterable<Uint8Array>): void {
  let temporary: string | undefined;
  try {
    const target = regularFile(file);
    // In the same folder: a rename between file systems would be a copy.
    temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
    withOpen(temporary, 'wx', (fd) => {
      for (const part of parts) writeAll(fd, part);
      fsyncSync(fd);
    });
    renameSync(temporary, target);
    withOpen(dirname(target), 'r', fsyncSync);
  } catch (cause) {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    const text = `${file} cannot be written: ${(cause as Error).message}`;
    throw new FoldstepError('FILE_UNWRITABLE', text, { cause });
  }
}

/** Where the file is or will be. */
function regularFile(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return file;
  if (!stats.isFile()) throw new Error('it is there, and no regular file');
  return realpathSync(file);
}

function withOpen(path: string, flags: string, use: (fd: number) => void): void {
  const fd = openSync(path, flags);
  try {
    use(fd);
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, Math.min(LARGEST_WRITE, bytes.length - done));
  }
}
