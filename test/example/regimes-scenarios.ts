import type { Device } from '#lib/device/device.js';
import { trainRegimes } from './regimes.js';

// What four ranks run for regimes.test.ts.

export const tp2ep4 = (device: Device) => trainRegimes(device, { tp: 2, ep: 4 }, 2);
