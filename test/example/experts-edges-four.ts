import type { Device } from '#lib/device/device.js';
import { EDGES, type EdgeResult, edgeResults } from './experts-edges-support.js';

// What four ranks run for experts-edges.test.ts.

export const tp4ep4 = (device: Device): Promise<EdgeResult[]> => edgeResults(device, { tp: 4, ep: 4 }, EDGES);
export const tp4ep2 = (device: Device): Promise<EdgeResult[]> => edgeResults(device, { tp: 4, ep: 2 }, EDGES);
export const tp2ep4 = (device: Device): Promise<EdgeResult[]> => edgeResults(device, { tp: 2, ep: 4 }, EDGES);
