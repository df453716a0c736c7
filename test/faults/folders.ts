import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesIn } from './traces.js';

/** Where a job leaves whatever it leaves. */
export interface Folders {
  /** Differs from that of every other job. */
  readonly home: string;
  /** Of its processes, as they start. */
  readonly work: string;
  /** For temporary files. */
  readonly tmp: string;
  /** What ranks and campaign tell each other. */
  readonly words: string;
  readonly save: string;
  /** Shared memory of ours. */
  readonly shm: string;
  /** Shared memory of Open MPI. */
  readonly segments: string;
  /** All files in them, the words between ranks and campaign left out. */
  files(): string[];
  remove(): void;
}

export function makeFolders(): Folders {
  // Open MPI makes sockets below, and the path of one has about 100 characters.
  const home = mkdtempSync(join(tmpdir(), 'faults-'));
  const shared = mkdtempSync('/dev/shm/faults-');
  const make = (parent: string, name: string) => {
    const folder = join(parent, name);
    mkdirSync(folder);
    return folder;
  };
  const judged = {
    work: make(home, 'work'),
    tmp: make(home, 'tmp'),
    save: make(home, 'save'),
    shm: make(shared, 'shm'),
    segments: make(shared, 'segments'),
  };
  return {
    ...judged,
    home,
    words: make(home, 'words'),
    files: () => Object.values(judged).flatMap(filesIn),
    remove: () => {
      for (const folder of [home, shared]) rmSync(folder, { recursive: true, force: true });
    },
  };
}
