import { writeFileSync } from 'node:fs';
import { FoldstepError } from '../errors.js';

/** Writes a file that `option` names. Throws INVALID_ARGUMENT where that cannot be done. */
export function writeNamedFile(option: string, file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (cause) {
    const text = `${option}: ${file} cannot be written: ${(cause as Error).message}`;
    throw new FoldstepError('INVALID_ARGUMENT', text, { cause });
  }
}
