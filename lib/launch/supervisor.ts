import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { FoldstepError } from '../errors.js';
import { type JobEvent, parseEvent } from './events.js';
import type { Command } from './launcher.js';

const PROGRAM = fileURLToPath(new URL('../../build/Release/foldstep-launch', import.meta.url));

/** What the supervisor starts. */
export interface Supervised {
  readonly ranks: number;
  readonly graceMs: number;
  /** What every rank runs. */
  readonly program: readonly string[];
  /** What starts the ranks. Without one, the only rank is started alone. */
  readonly launcher?: Command;
  /** Whether the caller reads the ranks' standard output. */
  readonly piped: boolean;
}

/** A job that has been started. */
export interface RunningJob {
  readonly process: ChildProcess;
  /** Resolves when the job has ended and no output of it is left. */
  readonly events: Promise<JobEvent[]>;
}

/** Throws ADDON_NOT_BUILT where the supervisor's program is not there. */
export function startSupervised({ ranks, graceMs, program, launcher, piped }: Supervised): RunningJob {
  checkBuilt();
  const launch = launcher === undefined ? [] : [launcher.file, ...launcher.args];
  const numbers = [ranks, graceMs, program.length].map(String);
  const child = spawn(PROGRAM, ['job', ...numbers, ...program, ...launch], {
    env: launcher?.env ?? process.env,
    stdio: ['inherit', piped ? 'pipe' : 'inherit', 'inherit', 'pipe'],
    // In a session of its own, it gets a terminal's Ctrl-C once, from here.
    detached: true,
  });
  return { process: child, events: eventsOf(child) };
}

async function eventsOf(child: ChildProcess): Promise<JobEvent[]> {
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (cause) => {
      reject(new FoldstepError('LAUNCH_FAILED', `${PROGRAM} did not start: ${cause.message}`, { cause }));
    });
    child.once('close', () => resolve());
  });
  const [events] = await Promise.all([readEvents(child.stdio[3] as Readable), ended]);
  return events;
}

async function readEvents(reports: Readable): Promise<JobEvent[]> {
  const events: JobEvent[] = [];
  for await (const line of createInterface({ input: reports })) events.push(parseEvent(line));
  return events;
}

function checkBuilt(): void {
  try {
    accessSync(PROGRAM, constants.X_OK);
  } catch (cause) {
    const text = `${PROGRAM} is not built, and jobs are started through it; run "npm run build:native" in the package folder`;
    throw new FoldstepError('ADDON_NOT_BUILT', text, { cause });
  }
}
