import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { join } from 'node:path';
import { PACKAGE_FOLDER } from './options.ts';

const { bin } = createRequire(import.meta.url)('foldstep/package.json') as { bin: { foldstep: string } };
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a script and its arguments as some ranks, as `npx foldstep run` does, and resolves with the
 * exit code of the job: 0 only if every rank ended well. Signals to this process reach the ranks.
 */
export async function runRanks(ranks: number, script: readonly string[]): Promise<number> {
  const command = [join(PACKAGE_FOLDER, bin.foldstep), 'run', '-n', String(ranks), ...script];
  const job = spawn(process.execPath, command, { stdio: 'inherit' });
  const forward = (signal: NodeJS.Signals): void => {
    // A terminal sends Ctrl-C to the job too, and a second one would end it at once.
    if (signal !== 'SIGINT' || process.stdin.isTTY !== true) job.kill(signal);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  try {
    return await new Promise((resolve, reject) => {
      job.on('error', reject);
      job.on('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
    });
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward);
  }
}
