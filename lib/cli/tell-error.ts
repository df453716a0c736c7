import type { FoldstepError } from '../errors.js';
import { escapeUnsafe } from '../show.js';

/** Says on standard error what was refused. Names in it may be of files, and a terminal obeys what it is not shown. */
export function tellError({ code, message }: FoldstepError): void {
  process.stderr.write(`foldstep: ${code}: ${escapeUnsafe(message)}\n`);
}
