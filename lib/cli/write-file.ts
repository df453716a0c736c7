import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { FoldstepError } from '../errors.js';
import { missingTarget } from '../files/links.js';
import { showName, showReason } from '../show.js';

/** Writes a file that `option` names. Throws INVALID_ARGUMENT where that cannot be done. */
export function writeNamedFile(option: string, file: string, content: string): void {
  writing(option, file, () => writeFileSync(file, content));
}

/** Throws, before there is anything to write, what `writeNamedFile` would throw. Makes and changes nothing. */
export function checkWritable(option: string, file: string): void {
  writing(option, file, () => {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isDirectory()) throw new Error('it is a folder');
    accessSync(stats ? file : dirname(missingTarget(file)), constants.W_OK);
  });
}

function writing(option: string, file: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    const text = `${option}: ${showName(file)} cannot be written: ${showReason(cause)}`;
    throw new FoldstepError('INVALID_ARGUMENT', text, { cause });
  }
}
