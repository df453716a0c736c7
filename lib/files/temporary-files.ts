import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** After this, nobody is still writing to a file that was last written to then. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;
const NAME = /^\.foldstep-(?<space>[0-9a-f]{16})-(?<pid>\d+)-(?<started>\d+)-[0-9a-f]{16}\.tmp$/;
/** In /proc/PID/stat: behind the program's name, the only field that may contain spaces, the start is the 20th. */
const STARTED_FIELD = 19;

/** A name for a file that this process writes and then renames; it tells others whose it is. */
export function temporaryName(): string {
  const started = startOf(process.pid) ?? 0;
  return `.foldstep-${processSpace()}-${process.pid}-${started}-${randomBytes(8).toString('hex')}.tmp`;
}

/**
 * Removes the temporary files that killed writers left in a folder: of those whose processes are seen from here, what no
 * living one writes; of others, such as those of another host, what nobody has written to for a day.
 */
export function removeAbandoned(folder: string): void {
  for (const name of quietly(() => readdirSync(folder)) ?? []) {
    const writer = NAME.exec(name)?.groups as { space: string; pid: string; started: string } | undefined;
    if (!writer) continue;
    const file = join(folder, name);
    const abandoned =
      writer.space === processSpace() ? !isAlive(Number(writer.pid), Number(writer.started)) : isOld(file);
    if (abandoned) quietly(() => rmSync(file, { force: true }));
  }
}

/** Whether this very process still runs, and no later one of its number. */
function isAlive(pid: number, started: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return (startOf(pid) ?? started) === started;
}

function isOld(file: string): boolean {
  const stats = quietly(() => statSync(file));
  return stats !== undefined && Date.now() - stats.mtimeMs > ABANDONED_MS;
}

/** Undefined where it cannot be done: tidying up after others is no reason to fail. */
function quietly<T>(attempt: () => T): T | undefined {
  try {
    return attempt();
  } catch {
    return undefined;
  }
}

let space: string | undefined;

/** What tells apart processes of the same number: the host, its start, and the container, as far as they see each other. */
function processSpace(): string {
  // Without one of them, no file of another process is known to be abandoned before its day is over.
  const places = [
    hostname,
    () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'),
    () => readlinkSync('/proc/self/ns/pid'),
  ];
  space ??= createHash('sha256')
    .update(places.map((read) => quietly(read) ?? randomBytes(8).toString('hex')).join('\n'))
    .digest('hex')
    .slice(0, 16);
  return space;
}

/** When a process started, in clock ticks; undefined for one that is not there. */
function startOf(pid: number): number | undefined {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat === undefined
    ? undefined
    : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[STARTED_FIELD]);
}
