import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { FoldstepError } from '../errors.js';
import { showName, showReason } from '../show.js';
import { missingTarget } from './links.js';
import { removeAbandoned, temporaryName } from './temporary-files.js';

/** Linux writes at most 2 GiB at a time. */
const LARGEST_WRITE = 2 ** 30;
const NEW_FILE_MODE = 0o666;
/** For `chown`: as it is. */
const UNCHANGED = -1;
/** How file systems say that they cannot sync, and folders that they may not be opened for it: no fault of what was written. */
const CANNOT_SYNC = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EACCES', 'EPERM']);

/** A file that is to be replaced; `stats` are those of the one that is there. */
interface Target {
  readonly path: string;
  readonly stats: Stats | undefined;
}

/**
 * Makes `parts`, one after the other, the content of a file: all of it or, where that fails, none, and what was there stays.
 * Others never see a file that is half written, and a host that loses its power has the old one or the new one, where its
 * file system can promise that. A link is followed, also one to nothing: the file that it names is made. A file that was there
 * keeps its mode and, where this process may give files away, its owner and group.
 *
 * Throws FILE_UNWRITABLE, naming the file, also for what is there and no regular file.
 */
export function replaceFile(file: string, parts: Iterable<Uint8Array>): void {
  let temporary: string | undefined;
  try {
    const target = targetOf(file);
    const folder = dirname(target.path);
    removeAbandoned(folder);
    // In the same folder: a rename between file systems would be a copy.
    temporary = join(folder, temporaryName());
    write(temporary, target.stats, parts);
    renameSync(temporary, target.path);
    temporary = undefined;
    unlessItCannot(() => withOpen(folder, 'r', undefined, fsyncSync));
  } catch (cause) {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    const text = `${showName(file)} cannot be written: ${showReason(cause)}`;
    throw new FoldstepError('FILE_UNWRITABLE', text, { cause });
  }
}

function targetOf(file: string): Target {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return { path: missingTarget(file), stats };
  if (!stats.isFile()) throw new Error('it is there, and no regular file');
  return { path: realpathSync(file), stats };
}

function write(path: string, replaced: Stats | undefined, parts: Iterable<Uint8Array>): void {
  withOpen(path, 'wx', replaced ? modeOf(replaced) : NEW_FILE_MODE, (fd) => {
    if (replaced) takeOver(fd, replaced);
    for (const part of parts) writeAll(fd, part);
    unlessItCannot(() => fsyncSync(fd));
  });
}

/** Gives a new file the owner, the group and the mode of the one that it replaces. */
function takeOver(fd: number, replaced: Stats): void {
  const { uid, gid } = replaced;
  // Only root gives files away; others may still choose among their groups.
  if (!attempts(() => fchownSync(fd, uid, gid))) attempts(() => fchownSync(fd, UNCHANGED, gid));
  fchmodSync(fd, modeOf(replaced));
}

function modeOf({ mode }: Stats): number {
  return mode & 0o7777;
}

function attempts(change: () => void): boolean {
  try {
    change();
    return true;
  } catch {
    return false;
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const piece = bytes.subarray(done, done + LARGEST_WRITE);
    done += writeSync(fd, piece, 0, piece.length);
  }
}

function unlessItCannot(sync: () => void): void {
  try {
    sync();
  } catch (cause) {
    if (!CANNOT_SYNC.has((cause as NodeJS.ErrnoException).code ?? '')) throw cause;
  }
}

function withOpen(path: string, flags: string, mode: number | undefined, use: (fd: number) => void): void {
  const fd = openSync(path, flags, mode);
  try {
    use(fd);
  } finally {
    closeSync(fd);
  }
}
