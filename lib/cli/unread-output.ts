import { EXIT_UNREAD } from './exit-codes.js';

/** Has this process end without a word, as other commands do, where nobody reads its output any more. */
export function endWhereOutputIsUnread(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') throw error;
      process.exit(EXIT_UNREAD);
    });
  }
}
