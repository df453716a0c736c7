// Rank 1 leaves, well and without a word, where rank 0 still counts on it.
import type { DeviceKind } from '#lib/device/device.js';
import { init } from '#lib/device/init.js';
import { fold, microbatches } from '../../support/fold.js';

const device = await init({ device: (process.env['FOLDSTEP_TEST_DEVICE'] ?? 'cpu') as DeviceKind });
const optimizer = await fold(device, { tp: 2 }, [{ name: 'w', shape: [8], family: 'dense' }]);
await microbatches(optimizer, { w: 1 });
if (device.rank === 1) process.exit(0);
await microbatches(optimizer, { w: 1 });
