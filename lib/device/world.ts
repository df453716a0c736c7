import { isMainThread } from 'node:worker_threads';
import { FoldstepError } from '../errors.js';
import { native } from '../native/errors.js';
import { addon } from '../native/load.js';
import type { RawWorld } from '../native/types.js';

export type Launcher = 'auto' | 'mpi' | 'none';

/** What `openWorld` gives: `leave` lets another device have it. */
export interface OpenWorld extends RawWorld {
  readonly leave: () => void;
}

let taken = false;
let closesAtExit = false;

/**
 * Opens the world of this job; blocks until every rank has come. A world of MPI's belongs to the main thread and to one
 * device at a time: two would issue its collectives in no common order. Throws BUSY for any other; MPI_UNAVAILABLE,
 * also where the launcher's ranks and MPI's are not the same, and in a process that a rank started; DEADLINE_EXCEEDED.
 */
export function openWorld(launcher: Launcher, deadlineMs: number, exitTimeoutMs: number): OpenWorld {
  const shared = native(() => addon().joinsMpi(launcher));
  if (shared && !isMainThread) {
    throw new FoldstepError(
      'BUSY',
      "the job's ranks belong to the main thread; in a worker thread work alone, with init({ launcher: 'none' })",
    );
  }
  if (shared && taken) {
    throw new FoldstepError(
      'BUSY',
      "another Device has the job's ranks; use that one, or dispose of it first",
    );
  }
  // Before the world is open: where opening fails halfway, the end of this process must still end the job.
  if (isMainThread) closeWorldAtExit();
  const world = native(() => addon().openWorld(launcher, deadlineMs, exitTimeoutMs));
  taken ||= shared;
  return {
    ...world,
    leave: () => {
      if (shared) taken = false;
    },
  };
}

// process.exit() gives native code no other chance to end its threads, and tells nobody else of a failure.
function closeWorldAtExit(): void {
  if (closesAtExit) return;
  closesAtExit = true;
  process.once('exit', (code) => native(() => addon().closeWorld(wholeCode(code))));
}

/** What Node makes of an exit code, but never 0 of a code that is not 0. */
function wholeCode(code: number): number {
  const asked = Number(code);
  return asked === 0 ? 0 : asked | 0 || 1;
}
