import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The variable by which a job's processes are known: each has it from the one that started it. */
export const MARK = 'FOLDSTEP_TEST_RUN';

/** Processes of the job with that mark, in the order of their numbers. */
export function processesOf(mark: string): number[] {
  const variable = `${MARK}=${mark}`;
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => readProc(pid, 'environ').split('\0').includes(variable))
    .map(Number);
}

/** What a process is, for people. */
export function showProcess(pid: number): string {
  const state = /^State:\s+(.*)$/m.exec(readProc(String(pid), 'status'))?.[1] ?? 'gone';
  const words = readProc(String(pid), 'cmdline').split('\0').join(' ').trim();
  return `${pid} (${state}): ${words.length > 100 ? `${words.slice(0, 100)}...` : words}`;
}

export function endProcesses(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended since it was listed.
    }
  }
}

/** Everything under a folder, by its path. */
export function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.map((entry) => join(entry.parentPath, entry.name)).sort();
}

function readProc(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    // It has ended since it was listed.
    return '';
  }
}
