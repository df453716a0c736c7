import type { Device } from '#lib/device/device.js';
import { foldedCases } from './model-cases-folded.js';

// What two ranks run for model-cases.test.ts.

export const tp2ep2 = (device: Device) => foldedCases(device, { tp: 2, ep: 2 });
export const tp1ep2 = (device: Device) => foldedCases(device, { tp: 1, ep: 2 });
