// The host has too little of something.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Fault } from '../fault.js';
import { line, OUT_OF_MEMORY } from './words.js';

/** Far less than a step's activations take, and enough for what Node.js does in between. */
const SPARE_BYTES = 8 * 2 ** 20;

export const resources: readonly Fault[] = [
  {
    name: 'a full shared memory',
    moments: ['before create'],
    // A mount in a name space of its own goes with the last process in it, whatever becomes of the campaign.
    surround: (shm) => [
      ...['unshare', '--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])],
      ...['sh', '-c', 'mount -t tmpfs -o size=16k none "$0" && exec "$@"', shm],
    ],
    right: { code: 'failure', named: () => /SHARED_MEMORY_(?:TOO_SMALL|UNAVAILABLE)/ },
  },
  {
    name: 'a memory limit',
    moments: ['before init', 'before create', 'before loading', 'before a step', 'before a collective'],
    strike: () => {
      const bytes = virtualBytes() + SPARE_BYTES;
      const { status, stderr } = spawnSync('prlimit', ['--pid', String(process.pid), `--as=${bytes}`]);
      if (status !== 0) throw new Error(`prlimit failed: ${stderr}`);
    },
    right: { code: 'failure', named: line(OUT_OF_MEMORY) },
  },
];

/** Of this process's address space. */
function virtualBytes(): number {
  const [, kibibytes] = /^VmSize:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))!;
  return 1024 * Number(kibibytes);
}
