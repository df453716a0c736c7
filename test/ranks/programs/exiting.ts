// Rank 1 exits with the code of the first argument while rank 0 waits for it.
import { init } from '#lib/device/init.js';

const device = await init();
await device.world.barrier();
if (device.rank === 1) process.exit(Number(process.argv[2]));
await device.world.barrier();
