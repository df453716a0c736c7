// Rank 1 does not come to init() as the others do: in the way of the first argument. The second names a folder in which
// the ranks wait for each other; what init() gave is written to stderr, a line of JSON a rank.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { init } from '#lib/device/init.js';
import type { FoldstepError } from '#lib/errors.js';

const [way, folder] = process.argv.slice(2) as [string, string];
const rank = Number(process.env['OMPI_COMM_WORLD_RANK']);
const sign = (name: string): string => join(folder, name);

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20);
}

async function attempt(deadlineMs: number): Promise<boolean> {
  const found = await init({ deadlineMs }).then(
    (device) => ({ rank: device.rank, size: device.size }),
    ({ code, message, peer }: FoldstepError) => ({ rank, code, message, peer }),
  );
  writeSync(2, `${JSON.stringify(found)}\n`);
  return 'size' in found;
}

/** Once this process has its name among the sockets of the host, it is on its way into MPI. */
function stopInInit(): void {
  const inInit = `[ "$(grep -c 'foldstep/.*/1$' /proc/net/unix)" -gt "$1" ]`;
  const before = readFileSync('/proc/net/unix', 'utf8').match(/foldstep\/.*\/1$/gm)?.length ?? 0;
  const script = `until ${inInit}; do sleep 0.02; done; sleep 0.1; kill -STOP "$2"`;
  spawn('sh', ['-c', script, 'sh', String(before), String(process.pid)], { stdio: 'ignore' });
}

function isStopped(pid: string): boolean {
  return /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

switch (way) {
  case 'never':
  case 'never, and 256':
    if (rank === 1) await sleep(3_600_000);
    if (!(await attempt(1500))) process.exit(way === 'never' ? 5 : 256);
    break;
  case 'stopped':
    if (rank === 1) {
      stopInInit();
      writeFileSync(sign('pid'), String(process.pid));
    } else {
      await until(() => existsSync(sign('pid')) && isStopped(readFileSync(sign('pid'), 'utf8')));
    }
    if (!(await attempt(rank === 1 ? 60_000 : 1500))) process.exit(5);
    break;
  case 'late':
    if (rank === 1) await until(() => existsSync(sign('gave up')));
    else if (!(await attempt(300))) writeFileSync(sign('gave up'), '');
    if (!(await attempt(60_000))) process.exit(5);
    break;
}
