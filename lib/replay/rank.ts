import { writeSync } from 'node:fs';
import type { Device } from '../device/device.js';
import { init } from '../device/init.js';
import { FoldstepError } from '../errors.js';
import { escapeUnsafe, showName } from '../show.js';
import { ReplayCase } from './case.js';
import { encodeMessage, type Message, type RankTask } from './messages.js';
import { train } from './training.js';

// The program that each rank of a replay runs; `replayCase` starts it.
try {
  const task = JSON.parse(process.argv[2]!) as RankTask;
  const device = await init({ device: task.device });
  await replay(device, task);
  device.dispose();
} catch (error) {
  const text =
    error instanceof FoldstepError
      ? `${error.code}: ${escapeUnsafe(error.message)}`
      : String((error as Error).stack);
  process.stderr.write(`foldstep: ${text}\n`);
  // At once, and not when nothing is pending any more: the other ranks are waiting for this one.
  process.exit(1);
}

async function replay(device: Device, { folder, settings }: RankTask): Promise<void> {
  const recorded = new ReplayCase(folder);
  if (device.size !== recorded.mesh.world) {
    throw new FoldstepError(
      'WORLD_MISMATCH',
      `case ${showName(recorded.name)} is of ${recorded.mesh.world} ranks, and this rank sees ${device.size}; does the launcher belong to the MPI library that foldstep was built with? "npx foldstep doctor" tells`,
    );
  }
  // Written synchronously, so that an abort of the job right afterwards loses nothing.
  const tell = (message: Message): void => {
    if (device.rank === 0) writeSync(1, encodeMessage(message));
  };
  for (const setting of settings) {
    const outcome = await train(device, recorded, setting, () => tell({ type: 'step' }));
    tell({ type: 'outcome', outcome });
  }
}
