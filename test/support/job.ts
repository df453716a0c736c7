import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const cli = join(root, 'dist/cli/main.js');
const worker = fileURLToPath(new URL('./worker.js', import.meta.url));

/** What one scenario gave on one rank. */
export interface Outcome {
  readonly value?: unknown;
  readonly error?: {
    readonly name: string;
    readonly code: string;
    readonly message: string;
    readonly rank?: number;
    readonly peer?: number;
    readonly parameter?: string;
  };
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end and keeps what it printed. */
export function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...output }));
  });
}

/** `foldstep` with the given arguments. */
export function foldstep(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Finished> {
  return run([cli, ...args], env);
}

/**
 * Starts a real job of `ranks` ranks that runs every scenario that `module` (a file of test/ranks/scenarios, or one of test by its path) exports, in
 * order; gives each scenario's outcomes by name, one per rank.
 */
export async function job(
  ranks: number,
  module: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Record<string, Outcome[]>> {
  const directory = mkdtempSync(join(tmpdir(), 'foldstep-test-'));
  try {
    const { code, stderr } = await foldstep(['run', '-n', String(ranks), worker, module, directory], env);
    if (code !== 0) throw new Error(`the job of ${module} on ${ranks} ranks ended with ${code}: ${stderr}`);
    const perRank = Array.from(
      { length: ranks },
      (_, rank) =>
        JSON.parse(readFileSync(join(directory, `${rank}.json`), 'utf8')) as Record<string, Outcome>,
    );
    return Object.fromEntries(
      Object.keys(perRank[0]!).map((name) => [name, perRank.map((outcomes) => outcomes[name]!)]),
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A scenario's values, one per rank; fails with the error of a rank that has one. */
export function values<T>(outcomes: readonly Outcome[] | undefined): T[] {
  if (!outcomes) throw new Error('there is no scenario of that name');
  return outcomes.map(({ value, error }, rank) => {
    if (error) throw new Error(`rank ${rank}: ${error.code}: ${error.message}`);
    return value as T;
  });
}

/** A scenario's errors, one per rank; fails if a rank has none. */
export function errors(outcomes: readonly Outcome[] | undefined): NonNullable<Outcome['error']>[] {
  if (!outcomes) throw new Error('there is no scenario of that name');
  return outcomes.map(({ value, error }, rank) => {
    if (!error) throw new Error(`rank ${rank} gave ${JSON.stringify(value)} where an error was expected`);
    return error;
  });
}
