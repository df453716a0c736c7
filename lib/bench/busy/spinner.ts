import { writeSync } from 'node:fs';

// One busy process of `besideBusy`: it keeps a core busy until it is killed. It also ends by itself as soon as the process
// that started it is gone, so that none is left behind however that one ends.
const LOOPS_BETWEEN_LOOKS = 1_000_000;
const parent = Number(process.argv[2]);
writeSync(1, 'busy\n');
while (process.ppid === parent) {
  for (let i = 0; i < LOOPS_BETWEEN_LOOKS; i++);
}
