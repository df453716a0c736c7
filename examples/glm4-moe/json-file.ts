import { readFileSync, statSync } from 'node:fs';
import { FoldstepError } from 'foldstep';

/** The largest index there is, of a hundred thousand tensors, has a tenth of it. */
const MOST_BYTES = 100_000_000;

/** What a JSON file contains. Throws INVALID_ARGUMENT that says `complaint` of the file, and why. */
export function readJson(file: string, complaint: string): unknown {
  try {
    const stats = statSync(file);
    // A pipe would wait for a writer, and a device may have no end.
    if (!stats.isFile()) throw new Error('it is no regular file');
    if (stats.size > MOST_BYTES) throw new Error(`it has ${stats.size} bytes`);
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    const text = `${file} ${complaint}: ${(cause as Error).message}`;
    throw new FoldstepError('INVALID_ARGUMENT', text, { cause });
  }
}
