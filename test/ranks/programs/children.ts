// Rank 0 prints what init() gives in processes that it starts, inside a step that srun started besides.
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { init } from '#lib/device/init.js';
import type { FoldstepError } from '#lib/errors.js';

const file = fileURLToPath(import.meta.url);

async function attempt(launcher: 'auto' | 'none'): Promise<object> {
  return init({ launcher }).then(
    ({ size }) => ({ size }),
    ({ code, message, rank }: FoldstepError) => ({ code, message, rank }),
  );
}

function spawned(launcher: string, env: NodeJS.ProcessEnv = process.env): unknown {
  const { stdout } = spawnSync(process.execPath, [file, 'child', launcher], { encoding: 'utf8', env });
  return JSON.parse(stdout);
}

async function forked(): Promise<unknown> {
  const child = fork(file, ['child', 'auto']);
  const [[found]] = await Promise.all([once(child, 'message'), once(child, 'exit')]);
  return found;
}

if (process.argv[2] === 'child') {
  const found = await attempt(process.argv[3] as 'auto' | 'none');
  if (process.send) process.send(found);
  else console.log(JSON.stringify(found));
} else {
  // The launcher that is nearest counts: this is what mpirun's ranks find inside an allocation of Slurm's.
  Object.assign(process.env, { SLURM_NTASKS: '8', SLURM_PROCID: '0', SLURM_STEP_ID: '0' });
  const device = await init();
  if (device.rank === 0) {
    const found = {
      pid: process.pid,
      forked: await forked(),
      spawned: spawned('auto'),
      asked: spawned('none'),
      cleaned: spawned('auto', { PATH: process.env['PATH'] }),
      size: device.size,
    };
    console.log(JSON.stringify(found));
  }
  await device.world.barrier();
}
