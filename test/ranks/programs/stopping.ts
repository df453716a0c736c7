// Rank 1 is stopped in the middle of what the first argument names, which all ranks do over and over.
import { init } from '#lib/device/init.js';
import { fold, microbatches } from '../../support/fold.js';

const device = await init({ deadlineMs: 1500, threads: 1 });
const { world } = device;
const actions: Record<string, () => Promise<unknown>> = {
  async collective() {
    const values = device.allocate(4 << 20).view('float32');
    while (true) await world.allReduce(values);
  },
  async split() {
    while (true) (await world.split(0)).dispose();
  },
  async create() {
    while (true) (await fold(device, { tp: 2 }, [{ name: 'w', shape: [8], family: 'dense' }])).dispose();
  },
  async messages() {
    const w = { name: 'w', shape: [100_000], family: 'dense' } as const;
    const optimizer = await fold(device, { tp: 2 }, [w], { path: 'exchange' });
    while (true) await microbatches(optimizer, { w: 1 });
  },
  async turns() {
    const w = { name: 'w', shape: [100_000], family: 'dense' } as const;
    const optimizer = await fold(device, { tp: 2 }, [w], { path: 'owner' });
    while (true) await microbatches(optimizer, { w: 1 });
  },
};

const action = actions[process.argv[2]!]!();
if (device.rank === 1) {
  console.log(process.pid);
  setTimeout(() => process.kill(process.pid, 'SIGSTOP'), 300);
}
await action;
