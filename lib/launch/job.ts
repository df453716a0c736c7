import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { FoldstepError } from '../errors.js';
import { type Command, dieWithParent, findLauncher, launchCommand } from './launcher.js';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What to start, and where its output goes. */
export interface JobOptions {
  ranks: number;
  /** Script and arguments, run by this process's own node. */
  script: readonly string[];
  /** Called with each line of the ranks' standard output, which is this process's own where not given. */
  onLine?: (line: string) => void;
}

/**
 * Runs a script as `ranks` ranks and resolves with the job's exit code; 128 + n for a job ended by signal n. SIGINT,
 * SIGTERM and SIGHUP are passed on, and the job ends when this process does. One rank needs no MPI: it is started alone.
 *
 * Throws LAUNCH_FAILED if ranks cannot be started here.
 */
export async function runJob({ ranks, script, onLine }: JobOptions): Promise<number> {
  const program = [process.execPath, ...script];
  const command = ranks === 1 ? alone(program) : guarded(launchCommand(findLauncher(), ranks, program));
  const stdio: StdioOptions = ['inherit', onLine ? 'pipe' : 'inherit', 'inherit'];
  // In a session of its own, a launcher gets a terminal's Ctrl-C once, from here: at the second it would give up tidying.
  const child = spawn(command.file, command.args, { stdio, env: command.env, detached: ranks > 1 });
  const signals = forwardSignals(child);
  try {
    const lines = onLine && readLines(child, onLine);
    const code = await exitCode(child, command.file);
    await lines;
    // Launchers tell of ranks that they ended on request by a code of their own.
    return code !== 0 && signals.received ? 128 + constants.signals[signals.received] : code;
  } finally {
    signals.release();
  }
}

function alone(program: readonly string[]): Command {
  return guarded({ file: program[0]!, args: program.slice(1), env: process.env, endSignal: 'TERM' });
}

/** The same, and it hears of our death, however we die. */
function guarded({ file, args, env, endSignal }: Command): Command {
  const [first, ...rest] = [...dieWithParent(endSignal), file, ...args];
  return { file: first!, args: rest, env, endSignal };
}

async function readLines(child: ChildProcess, onLine: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: child.stdout! })) onLine(line);
}

function exitCode(child: ChildProcess, file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      reject(new FoldstepError('LAUNCH_FAILED', `${file} did not start: ${cause.message}`, { cause }));
    });
    child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
  });
}

interface Forwarding {
  /** The last one that was passed on. */
  received: NodeJS.Signals | undefined;
  release(): void;
}

function forwardSignals(child: ChildProcess): Forwarding {
  const forward = (signal: NodeJS.Signals): void => {
    forwarding.received = signal;
    child.kill(signal);
  };
  const forwarding: Forwarding = {
    received: undefined,
    release: () => {
      for (const signal of FORWARDED) process.off(signal, forward);
    },
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  return forwarding;
}
