import type { Device } from '#lib/device/device.js';
import { lostByRoundTrip, otherThanUnsharded } from '../../support/consolidate.js';

const sizes = { tp: 2, ep: 2, etp: 2 };

export const lost = (device: Device) => lostByRoundTrip(device, sizes);
export const other = (device: Device) => otherThanUnsharded(device, sizes);
