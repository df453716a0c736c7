import { init } from '../../device/init.js';
import type { ProbeAnswer } from './finding.js';

// Run by `foldstep doctor` in processes of its own: an addon that does not suit this host must not take the doctor down.
try {
  const device = await init({ launcher: process.argv[2] === 'mpi' ? 'mpi' : 'none' });
  await device.world.barrier();
  const answer: ProbeAnswer = { size: device.size, library: device.library, facts: device.describe() };
  if (device.rank === 0) process.stdout.write(`${JSON.stringify(answer)}\n`);
  device.dispose();
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: (error as Error).message })}\n`);
  process.exit(1);
}
