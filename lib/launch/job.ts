import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endingOf, type JobEnding } from './ending.js';
import { checkOutsideRank } from './inside-rank.js';
import { findLauncher, launchCommand } from './launcher.js';
import { startSupervised } from './supervisor.js';

const PRELOAD = fileURLToPath(new URL('./blocking-output.cjs', import.meta.url));

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const;

/** What ranks have to end after a signal that asks them to, unless a caller says otherwise. */
export const GRACE_MS = 5000;

/** What to start, and where its output goes. */
export interface JobOptions {
  ranks: number;
  /** Script and arguments, run by this process's own node. */
  script: readonly string[];
  /** Called with each line of the ranks' standard output, which is this process's own where not given. */
  onLine?: (line: string) => void;
  /** What ranks have to end after SIGINT, SIGTERM or SIGHUP. Default `GRACE_MS`. */
  graceMs?: number;
}

/**
 * Runs a script as `ranks` ranks and resolves when all have ended. Signals to this process reach every rank; whatever this
 * process ends of, the ranks end with it. Rank 0 reads this process's standard input, the others read nothing. One rank
 * needs no MPI: it is started alone.
 *
 * Throws LAUNCH_FAILED if ranks cannot be started here, ADDON_NOT_BUILT.
 */
export async function runJob({ ranks, script, onLine, graceMs = GRACE_MS }: JobOptions): Promise<JobEnding> {
  checkOutsideRank();
  const program = [process.execPath, '--require', PRELOAD, ...script];
  const launcher = ranks === 1 ? {} : { launcher: launchCommand(findLauncher(), ranks) };
  const job = startSupervised({ ranks, graceMs, program, piped: onLine !== undefined, ...launcher });
  const release = forwardSignals(job.process);
  try {
    const lines = onLine && readLines(job.process, onLine);
    const events = await job.events;
    await lines;
    return endingOf(events);
  } finally {
    release();
  }
}

async function readLines(child: ChildProcess, onLine: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: child.stdout! })) onLine(line);
}

/** Returns what undoes it. A listener for SIGUSR1 also keeps Node.js from opening its inspector. */
function forwardSignals(child: ChildProcess): () => void {
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  return () => {
    for (const signal of FORWARDED) process.off(signal, forward);
  };
}
