import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Finding } from './finding.js';

const NEEDED_NODE = [20, 19] as const;
const INSTRUCTION_SETS = ['avx2', 'avx512f', 'avx512bw', 'avx512vl', 'avx512dq'];
/** Container runtimes give this little unless told otherwise, and a model's arenas do not fit. */
const SMALL_SHARED_MEMORY = 256 * 2 ** 20;

export function examineNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [neededMajor, neededMinor] = NEEDED_NODE;
  const ok = major > neededMajor || (major === neededMajor && minor >= neededMinor);
  const finding = { name: 'Node.js', ok, optional: false, found: process.versions.node };
  return ok ? finding : { ...finding, mend: `install Node.js ${NEEDED_NODE.join('.')} or later` };
}

export function examineProcessors(): Finding[] {
  const flags = new Set(cpuFlags());
  const sets = INSTRUCTION_SETS.filter((name) => flags.has(name));
  return [
    { name: 'processors', ok: true, optional: true, found: String(availableParallelism()) },
    {
      name: 'instruction sets',
      ok: true,
      optional: true,
      found: sets.join(', ') || 'none that foldstep has special code for',
    },
  ];
}

export function examineSharedMemory(): Finding {
  const folder = process.env['FOLDSTEP_SHM_DIR'] ?? '/dev/shm';
  const base = { name: 'shared memory', optional: true };
  const mend =
    'ranks share memory through this folder: mount a larger tmpfs, start a container with --shm-size=2g, or name another folder in FOLDSTEP_SHM_DIR';
  try {
    const { blocks, bavail, bsize } = statfsSync(folder);
    const found = `${folder}: ${mebibytes(bavail * bsize)} free of ${mebibytes(blocks * bsize)}`;
    return bavail * bsize >= SMALL_SHARED_MEMORY
      ? { ...base, ok: true, found }
      : { ...base, ok: false, found, mend };
  } catch (error) {
    return { ...base, ok: false, found: `${folder}: ${(error as Error).message}`, mend };
  }
}

/** Who the ranks would run as. */
export function examineUser(): Finding {
  const base = { name: 'user', ok: true, optional: true };
  if (process.getuid?.() !== 0) return { ...base, found: `${process.getuid?.()}` };
  return {
    ...base,
    found: 'root, as whom ranks may run: the launcher, which refuses that, is told to allow it',
  };
}

function cpuFlags(): string[] {
  try {
    return /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]?.trim().split(' ') ?? [];
  } catch {
    // Without /proc nothing is known of them; the addon finds out for itself.
    return [];
  }
}

function mebibytes(bytes: number): string {
  return `${Math.floor(bytes / 2 ** 20)} MiB`;
}
