// What a training does not notice: it ends with 0 and the same result as without.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Fault } from '../fault.js';
import { MOMENTS } from '../plan.js';

const STOPPED_SECONDS = 0.7;

const NOTHING: Fault['right'] = { code: 0 };

export const harmless: readonly Fault[] = [
  { name: 'nothing', moments: MOMENTS, right: NOTHING },
  {
    name: 'stopped and continued',
    moments: MOMENTS,
    strike: () => {
      spawn('sh', ['-c', `sleep ${STOPPED_SECONDS}; kill -CONT ${process.pid}`], { stdio: 'ignore' }).unref();
      process.kill(process.pid, 'SIGSTOP');
    },
    right: NOTHING,
  },
  {
    name: 'comes late',
    moments: MOMENTS,
    strike: ({ assignment }) => pause(assignment.deadlineMs / 3),
    right: NOTHING,
  },
  {
    name: 'a worker ends',
    moments: MOMENTS,
    strike: () => workerThat('process.exit(3)'),
    right: NOTHING,
  },
  {
    name: 'a worker throws',
    moments: MOMENTS,
    strike: () => workerThat("throw new Error('in a worker')"),
    right: NOTHING,
  },
  {
    name: 'a child process ends',
    moments: MOMENTS,
    strike: async () => {
      await once(spawn('false', { stdio: 'ignore' }), 'exit');
    },
    right: NOTHING,
  },
];

async function workerThat(source: string): Promise<void> {
  const worker = new Worker(source, { eval: true });
  worker.on('error', () => {});
  await once(worker, 'exit').catch(() => {});
}
