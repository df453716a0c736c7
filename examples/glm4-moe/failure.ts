import { setTimeout as sleep } from 'node:timers/promises';
import { CommanderError } from 'commander';
import { FoldstepError } from 'foldstep';

/** Longer than the first rank takes to find out what the others have. */
const OTHERS_WAIT_MS = 1000;

const rank = Number(process.env['OMPI_COMM_WORLD_RANK'] ?? process.env['PMI_RANK'] ?? 0);

/** Whether this is the rank that speaks for all, as the launcher says: true also before, or without, `init`. */
export const speaks = rank === 0;

/**
 * Ends this rank, and with it the job, by an error that a user can mend, told in one line; throws any other. What is wrong
 * on every rank is told once: the first rank's end ends the others while they wait.
 */
export async function endBy(error: unknown): Promise<never> {
  if (error instanceof CommanderError && error.exitCode === 0) process.exit(0);
  const told = lineOf(error);
  if (told === undefined) throw error;
  if (!speaks) await sleep(OTHERS_WAIT_MS);
  process.stderr.write(`${speaks ? '' : `rank ${rank}: `}${told}\n`);
  process.exit(1);
}

function lineOf(error: unknown): string | undefined {
  if (error instanceof FoldstepError) return `error: ${error.code}: ${error.message}`;
  return error instanceof CommanderError ? error.message : undefined;
}
