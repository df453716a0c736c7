import type { FoldstepError } from '../errors.js';
import { printable } from './printable.js';

/** Says on standard error what was refused. The message may hold names from files. */
export function tellError({ code, message }: FoldstepError): void {
  process.stderr.write(printable(`foldstep: ${code}: ${message}\n`));
}
