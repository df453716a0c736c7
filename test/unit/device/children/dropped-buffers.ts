import { setImmediate } from 'node:timers/promises';
import { init } from '#lib/device/init.js';

// Drops 400 written buffers of 8 MiB without disposing of them; prints the most bytes of memory the process ever had.
const device = await init();
for (let i = 0; i < 400; i++) {
  const view = device.allocate(8 << 20).view('uint8');
  // Written by the device alone: V8 counts an ArrayBuffer's bytes by itself.
  device.copy(view.subview(0, 4 << 20), view.subview(4 << 20, 8 << 20));
  await device.stream.synchronize();
  await setImmediate();
}
console.log(1024 * process.resourceUsage().maxRSS);
