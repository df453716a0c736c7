import type { Device } from '#lib/device/device.js';
import { everyStage } from './folded-training.js';

// What four ranks run for folded.test.ts.

export const tp2ep2 = (device: Device) => everyStage(device, { tp: 2, ep: 2 });
export const tp2ep4 = (device: Device) => everyStage(device, { tp: 2, ep: 4 });
export const tp4ep2 = (device: Device) => everyStage(device, { tp: 4, ep: 2 });
export const tp1ep4 = (device: Device) => everyStage(device, { tp: 1, ep: 4 });
