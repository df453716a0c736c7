import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { FoldstepError } from '../errors.js';

/** Writes a file that `option` names. Throws INVALID_ARGUMENT where that cannot be done. */
export function writeNamedFile(option: string, file: string, content: string): void {
  writing(option, file, () => writeFileSync(file, content));
}

/** Throws, before there is anything to write, what `writeNamedFile` would throw. Leaves what is there as it is. */
export function checkWritable(option: string, file: string): void {
  const existed = existsSync(file);
  writing(option, file, () => closeSync(openSync(file, 'a')));
  if (!existed) rmSync(file);
}

function writing(option: string, file: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    const text = `${option}: ${file} cannot be written: ${(cause as Error).message}`;
    throw new FoldstepError('INVALID_ARGUMENT', text, { cause });
  }
}
