import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** A `foldstep` command that runs, what it has printed so far, and how it ends. */
export class RunningCommand {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [cli, ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const name of ['stdout', 'stderr'] as const) {
      this.child[name]!.setEncoding('utf8').on('data', (text: string) => {
        this[name] += text;
      });
    }
    this.ended = new Promise((resolve) => {
      this.child.once('close', (code, signal) => resolve(signal ?? code!));
    });
  }

  /** Resolves when its standard output has held `text` so often; rejects if it ends before. */
  async hasSaid(text: string, count: number): Promise<void> {
    const ended = this.ended.then((how) => {
      throw new Error(`it ended with ${how} before it said ${text}: ${this.stdout}${this.stderr}`);
    });
    await Promise.race([until(() => this.stdout.split(text).length > count), ended]);
  }
}

/** The text of a command that a shell can run: `foldstep` with these words, each quoted. */
export function shellCommand(...args: readonly string[]): string {
  return [process.execPath, cli, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}

/** Processes with `word` among their arguments. */
export function processesOf(word: string): string[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(word));
}

/** Those of `processesOf` that `program` is the first argument of. */
export function processesRunning(program: RegExp, word: string): number[] {
  return processesOf(word)
    .filter((pid) => program.test(commandLine(pid)[0]!))
    .map(Number);
}

export function commandLine(pid: string): string[] {
  return readProc(pid, 'cmdline').split('\0');
}

/** A file of /proc; empty where the process has ended since it was listed. */
export function readProc(pid: string | number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 50));
}
