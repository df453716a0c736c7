// Rank 0 ends well, and rank 1 does not. Rank 1 prints which share of a core rank 0 takes while it waits.
import { readFileSync } from 'node:fs';
import { init } from '#lib/device/init.js';

const device = await init({ deadlineMs: 1500, exitTimeoutMs: 1000 });
const pids = device.allocate(8 * (device.size + 1));
const own = pids.view('float64', 0, 1);
const all = pids.view('float64', 8, device.size);
own.write(Float64Array.of(process.pid));
await device.world.allGather(own, all);

if (device.rank === 1) {
  const [waiting] = all.read();
  // Clock ticks, of which Linux counts 100 a second: the fields after the program's name in parentheses.
  const ticks = () => {
    const fields = readFileSync(`/proc/${waiting}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return Number(fields[11]) + Number(fields[12]);
  };
  setTimeout(() => {
    const before = ticks();
    setTimeout(() => console.log(JSON.stringify({ pid: process.pid, ticks: ticks() - before })), 1000);
  }, 400);
  setInterval(() => {}, 1000);
}
