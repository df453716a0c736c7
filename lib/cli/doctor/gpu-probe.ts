import { addon } from '../../native/load.js';

// Run by `foldstep doctor` in a process of its own: a driver that does not suit this host must not take the doctor down.
process.stdout.write(`${JSON.stringify(addon().probeBackend('cuda'))}\n`);
