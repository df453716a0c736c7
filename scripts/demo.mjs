// Replays the recorded GLM4-MoE training and shows what foldstep is for.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ReplayCase } from '../dist/replay/case.js';
import { replayCase } from '../dist/replay/run.js';
import { settingsOf } from '../dist/replay/setting.js';
import { filesUnder } from './files.mjs';
import { root } from './root.mjs';

console.log(`
When a mixture-of-experts model trains on several ranks with its experts folded over the same ranks as its tensor
lanes, each rank ends a micro-batch with BF16 gradients that are not yet the gradient: some must be averaged over
the lanes, some divided, some left alone, and one norm must count every element once before anything is clipped or
stepped. foldstep does that, exactly, and takes the optimizer step. Here it does so on training that was recorded
from a Hugging Face Glm4MoeForCausalLM, with ranks that mpirun starts on this machine; what they must come to was
computed in float64.
`);

const columns = [
  'case',
  'ranks',
  'step',
  'norm expected',
  'norm got',
  'rel. error',
  'ranks agree',
  'temporaries',
];
const rows = [columns];
let passed = true;
const folder = 'test/fixtures/replay';
const cases = filesUnder(folder, /^case\.json$/).filter((file) => file.startsWith(`${folder}/glm4-`));
for (const file of cases) {
  const recorded = new ReplayCase(join(root, file, '..'));
  const [{ report, failures }] = await replayCase(
    recorded,
    settingsOf({}, recorded.content.training.zeroStage),
  );
  passed &&= report.passed;
  for (const failure of failures) console.error(`${report.case}: ${failure}`);
  for (const [i, step] of report.steps.entries()) {
    rows.push([
      i === 0 ? report.case : '',
      i === 0 ? String(report.ranks) : '',
      String(i + 1),
      step.expectedGradNorm.toFixed(9),
      step.gradNorm.toFixed(9),
      step.relativeError.toExponential(1),
      report.ranksAgree ? 'yes, every bit' : 'NO',
      `${report.temporaryPeakBytes} bytes`,
    ]);
  }
}
const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i].length)));
for (const row of rows)
  console.log(
    row
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd(),
  );

console.log(
  '\nNo BF16 rounding on the way: two lanes with gradients 1 and 1.0078125, neighbours in BF16, average to',
);
const average = spawnSync(
  process.execPath,
  ['dist/cli/main.js', 'run', '-n', '2', 'scripts/demo-average.mjs'],
  { cwd: root, stdio: 'inherit' },
);
passed &&= average.status === 0;

console.log(
  passed
    ? '\nEvery norm, gradient, master, optimizer state and weight was compared, and all are right.'
    : '\nSomething is wrong: see above.',
);
process.exit(passed ? 0 : 1);
