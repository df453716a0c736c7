import type { Device } from '#lib/device/device.js';
import { saveWeights } from '../../examples/glm4-moe/checkpoint.js';
import { ORIGINAL } from './checkpoint-support.js';
import { openModel } from './model-cases-support.js';

// What four ranks run for checkpoint.test.ts.

/** Loads the original and saves it again, in the folder that the environment names. */
export async function saves(device: Device): Promise<void> {
  const { model, optimizer, dispose } = await openModel(device, ORIGINAL, { tp: 2, ep: 4 });
  await saveWeights(process.env['FOLDSTEP_TEST_FOLDER']!, ORIGINAL, model, optimizer, device);
  dispose();
}
