import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeviceKind } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import { FoldstepError } from '#lib/errors.js';
import type { Outcome } from './job.js';

// One rank of a job: runs every scenario of a module and leaves the outcomes in a file of its own, since what ranks print
// may be mixed line by line.
const [module, directory] = process.argv.slice(2) as [string, string];
const scenarios = (await import(
  `../${module.includes('/') ? module : `ranks/scenarios/${module}`}.js`
)) as Record<string, unknown> & {
  /** Of everything that waits for another rank. */
  deadlineMs?: number;
  /** One name per rank: ranks of different names do not share memory. */
  nodes?: readonly string[];
};
const node = scenarios.nodes?.[Number(process.env['OMPI_COMM_WORLD_RANK'])];
if (node !== undefined) process.env['FOLDSTEP_NODE'] = node;
const device = await init({
  device: (process.env['FOLDSTEP_TEST_DEVICE'] ?? 'cpu') as DeviceKind,
  ...(scenarios.deadlineMs === undefined ? {} : { deadlineMs: scenarios.deadlineMs }),
});
const outcomes: Record<string, Outcome> = {};
for (const [name, scenario] of Object.entries(scenarios)) {
  if (typeof scenario !== 'function') continue;
  try {
    outcomes[name] = { value: await scenario(device) };
  } catch (error) {
    if (!(error instanceof FoldstepError)) throw error;
    const { code, message, rank, peer, parameter } = error;
    outcomes[name] = {
      error: {
        name: error.name,
        code,
        message,
        ...(rank === undefined ? {} : { rank }),
        ...(peer === undefined ? {} : { peer }),
        ...(parameter === undefined ? {} : { parameter }),
      },
    };
  }
}
writeFileSync(join(directory, `${device.rank}.json`), JSON.stringify(outcomes));
