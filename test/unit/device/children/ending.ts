import { init } from '#lib/device/init.js';

// Ends in the way of the first argument, with the device in the state of the second.
const [way, state] = process.argv.slice(2);
const device = await init();
const bytes = device.allocate(64 << 20).view('uint8');
const [source, target] = [bytes.subview(0, 32 << 20), bytes.subview(32 << 20, 64 << 20)];
device.copy(source, target);
await device.stream.synchronize();
await device.world.split(0);
if (state === 'disposed') device.dispose();
if (state === 'busy') {
  for (let i = 0; i < 20; i++) device.copy(source, target);
  device.stream.synchronize().catch(() => {});
}
switch (way) {
  case 'exit':
    process.exit(Number(process.argv[4]));
    break;
  case 'throw':
    setImmediate(() => {
      throw new Error('thrown on purpose');
    });
    break;
  case 'reject':
    Promise.reject(new Error('rejected on purpose'));
    break;
  case 'sigterm':
    process.kill(process.pid, 'SIGTERM');
    setInterval(() => {}, 1000);
    break;
}
