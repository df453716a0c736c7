import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { faultNamed } from './catalogue.js';
import type { Fault } from './fault.js';
import { type Folders, makeFolders } from './folders.js';
import type { Assignment, Plan } from './plan.js';
import { endProcesses, MARK, processesOf, showProcess } from './traces.js';
import { hasWord, leaveWord, RELEASED, STRUCK } from './words.js';

const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const program = fileURLToPath(new URL('./rank.js', import.meta.url));

/** How long a job may take. */
export interface Limits {
  /** Until the culprit has come to its moment. */
  readonly startMs: number;
  /** From there until the last process has gone. */
  readonly endMs: number;
  /** The deadline that the ranks are given. */
  readonly deadlineMs: number;
}

/** What was seen of a job. */
export interface Seen {
  /** 128 + n for a command that signal n ended; undefined for a job that had to be ended. */
  readonly code: number | undefined;
  /** Standard output and standard error. */
  readonly output: string;
  readonly struck: boolean;
  /** Processes that were there when the time was over, for people. */
  readonly processes: readonly string[];
  /** What lies in the job's folders afterwards. */
  readonly files: readonly string[];
  /** The file that rank 0 saves. */
  readonly save: string;
  /** From the start to the end of the last process. */
  readonly tookMs: number;
}

/** A job that was started. */
interface Job {
  readonly command: ChildProcess;
  readonly folders: Folders;
  /** Pieces of what it prints. */
  readonly output: readonly string[];
}

const running = new Set<Job>();

/** Ends all jobs that run, and removes what they leave. */
export function endJobs(): void {
  for (const job of running) end(job);
}

/** Carries out a plan as a real job, and gives what `judge` makes of it. */
export async function carryOut<T>(plan: Plan, limits: Limits, judge: (seen: Seen) => T): Promise<T> {
  const fault = faultNamed(plan.fault);
  const folders = makeFolders();
  const save = join(folders.save, 'masters.safetensors');
  const { deadlineMs } = limits;
  const job = start({ ...plan, deadlineMs, words: folders.words, save }, fault, folders);
  try {
    const begin = performance.now();
    const struck = await watch(job, limits, fault.meanwhile);
    const tookMs = performance.now() - begin;
    const left = processesOf(folders.home);
    const processes = left.map(showProcess);
    const code = left.length === 0 ? await codeOf(job.command) : undefined;
    const output = job.output.join('');
    return judge({ code, output, struck, processes, files: folders.files(), save, tookMs });
  } finally {
    await untilNoneIsLeft(folders.home);
    end(job);
  }
}

/** A process that was killed is still listed for a moment, and one that it has just started is listed later. */
async function untilNoneIsLeft(mark: string): Promise<void> {
  for (let left = processesOf(mark); left.length > 0; left = processesOf(mark)) {
    endProcesses(left);
    await pause(30);
  }
}

function start(assignment: Assignment, fault: Fault, folders: Folders): Job {
  const ranks = String(assignment.ranks);
  const words = [process.execPath, command, 'run', '-n', ranks, program, JSON.stringify(assignment)];
  const [file, ...args] = [...(fault.surround?.(folders.shm) ?? []), ...words];
  const child = spawn(file!, args, {
    cwd: folders.work,
    env: {
      ...process.env,
      [MARK]: folders.home,
      TMPDIR: folders.tmp,
      FOLDSTEP_SHM_DIR: folders.shm,
      OMPI_MCA_btl_vader_backing_directory: folders.segments,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
  }
  const job = { command: child, folders, output };
  running.add(job);
  return job;
}

function end(job: Job): void {
  endProcesses(processesOf(job.folders.home));
  job.folders.remove();
  running.delete(job);
}

/** Resolves when the job's last process has gone or its time is over, and says whether the fault struck. */
async function watch(
  { command, folders }: Job,
  limits: Limits,
  meanwhile: Fault['meanwhile'],
): Promise<boolean> {
  const begin = performance.now();
  let struckAt: number | undefined;
  const hasStruck = () => hasWord(folders.words, STRUCK);
  const hasEnded = () => command.exitCode !== null || command.signalCode !== null;
  const isOver = () =>
    performance.now() > (struckAt === undefined ? begin + limits.startMs : struckAt + limits.endMs);
  while (!isOver() && !(hasEnded() && processesOf(folders.home).length === 0)) {
    if (struckAt === undefined && hasStruck()) {
      struckAt = performance.now();
      meanwhile?.(command);
      leaveWord(folders.words, RELEASED);
    }
    await pause(30);
  }
  return hasStruck();
}

/** When its output has been read to the end. */
function codeOf(ended: ChildProcess): Promise<number> {
  const code = () => ended.exitCode ?? 128 + constants.signals[ended.signalCode!];
  const streams = [ended.stdout!, ended.stderr!];
  const isRead = () => streams.every((stream) => stream.closed);
  return new Promise((resolve) => {
    if (isRead()) resolve(code());
    for (const stream of streams) stream.once('close', () => isRead() && resolve(code()));
  });
}
