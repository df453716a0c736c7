import { addon } from '../dist/native/load.js';

/** What the backend for GPUs says of this host, and the devices among that. */
export function gpus() {
  const facts = addon().probeBackend('cuda');
  return { facts, devices: Object.keys(facts).filter((name) => /^device \d+$/.test(name)) };
}
