import type { Device } from '#lib/device/device.js';
import { foldedCases } from './model-cases-folded.js';

// What four ranks run for model-cases.test.ts.

export const tp2ep4 = (device: Device) => foldedCases(device, { tp: 2, ep: 4 });
export const tp2ep2 = (device: Device) => foldedCases(device, { tp: 2, ep: 2 });
