import { escapeUnsafe } from '../show.js';

/** A text of one or more lines, with escapes in place of what a terminal obeys: parts of it may come from outside. */
export function printable(text: string): string {
  return text.split('\n').map(escapeUnsafe).join('\n');
}
