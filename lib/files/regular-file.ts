import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { FoldstepError } from '../errors.js';
import { showName, showReason } from '../show.js';

/** Node refuses to read 2 GiB at once. */
const LARGEST_READ = 2 ** 30;

/** A regular file, open for reading. */
export interface RegularFile {
  readonly size: number;
  /** Another one whenever what is there under the name is another file, or was written to. */
  readonly version: string;
  /** Fills `into` with the bytes from `position` on. */
  read(into: Uint8Array, position: number): void;
}

/**
 * Opens a file for reading, and closes it after `use`. Throws FILE_UNREADABLE, naming the file, for one that cannot be
 * opened or read, for what is no regular file, such as a folder, and for one that changes meanwhile or is not of `version`.
 */
export function withRegularFile<T>(file: string, use: (open: RegularFile) => T, version?: string): T {
  let fd: number | undefined;
  try {
    // Without O_NONBLOCK, opening a FIFO waits for a writer that may never come.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const open = regularFile(fd);
    if (version !== undefined && version !== open.version) {
      throw new Error('it changed after it was opened; open it anew');
    }
    const result = use(open);
    if (versionOf(fstatSync(fd, { bigint: true })) !== open.version) {
      throw new Error('it changed while it was read');
    }
    return result;
  } catch (cause) {
    if (cause instanceof FoldstepError) throw cause;
    const text = `${showName(file)} cannot be read: ${showReason(cause)}`;
    throw new FoldstepError('FILE_UNREADABLE', text, { cause });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function regularFile(fd: number): RegularFile {
  const stats = fstatSync(fd, { bigint: true });
  if (!stats.isFile()) throw new Error('it is not a regular file');
  const read = (into: Uint8Array, position: number): void => {
    for (let done = 0; done < into.length; ) {
      const piece = into.subarray(done, done + LARGEST_READ);
      const got = readSync(fd, piece, 0, piece.length, position + done);
      if (got === 0) throw new Error(`it ends before byte ${position + into.length}`);
      done += got;
    }
  };
  return { size: Number(stats.size), version: versionOf(stats), read };
}

/** The time of change tells what was written and given its old time of modification afterwards. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}
