// Reads files that were changed at random, many more than the tests do, and prints what came of them:
//   node scripts/mutate.mjs --headers 1000000 --cases 100000 --seed 1
// Ends with 1 where one was neither read nor refused by a FoldstepError. Needs `npm run build:ts`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mutateCases } from '../build/test/support/mutations/cases.js';
import { mutateHeaders } from '../build/test/support/mutations/headers.js';

const { values } = parseArgs({
  options: {
    headers: { type: 'string', default: '1000000' },
    cases: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
  },
});
// Nobody reads them, and they take a third of the time.
Error.stackTraceLimit = 0;
const folder = mkdtempSync(join(tmpdir(), 'foldstep-mutate-'));
try {
  report('headers', mutateHeaders, Number(values.headers));
  report('cases', mutateCases, Number(values.cases));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function report(what, mutate, count) {
  const before = process.cpuUsage();
  const { counts, slowestMs, faults } = mutate(folder, count, Number(values.seed));
  const { user, system } = process.cpuUsage(before);
  const memory = process.resourceUsage().maxRSS / 1024;
  console.log(
    `${what}: ${count} at seed ${values.seed}, ${((user + system) / 1e6).toFixed(1)} s of processor time`,
  );
  for (const [code, times] of Object.entries(counts)) console.log(`  ${code}: ${times}`);
  console.log(
    `  longest: ${slowestMs.toFixed(1)} ms of it; largest memory of the process: ${memory.toFixed(0)} MiB`,
  );
  for (const fault of faults.slice(0, 20)) console.log(`  FAULT ${fault.slice(0, 500)}`);
  if (faults.length > 0) process.exitCode = 1;
}
