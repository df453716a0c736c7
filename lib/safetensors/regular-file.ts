import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { FoldstepError } from '../errors.js';

/**
 * Opens a file for reading, and closes it after `use`. Throws FILE_UNREADABLE, naming the file, for one that cannot be
 * opened or read, and for what is no regular file, such as a folder.
 */
export function withRegularFile<T>(file: string, use: (fd: number, size: number) => T): T {
  let fd: number | undefined;
  try {
    // Without O_NONBLOCK, opening a FIFO waits for a writer that may never come.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error('it is not a regular file');
    return use(fd, stats.size);
  } catch (cause) {
    if (cause instanceof FoldstepError) throw cause;
    const text = `${file} cannot be read: ${(cause as Error).message}`;
    throw new FoldstepError('FILE_UNREADABLE', text, { cause });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
