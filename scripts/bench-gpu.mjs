// Measures on an NVIDIA GPU, and holds what comes against the targets. Exit code 0: all reached; 1: one was missed; 3: there
// is no GPU, and nothing was run.
import { spawnSync } from 'node:child_process';
import { gpus } from './gpus.mjs';
import { root } from './root.mjs';

const ELEMENTS = 2 ** 26;
/** Of the bandwidth of the card's own copies. */
const LEAST_FRACTION = 0.9;
const JUDGED = ['accumulate', 'cast-to-fp32', 'cast-to-bf16', 'norm', 'adamw'];
const SHARED_PATHS = ['owner', 'direct'];

const { devices, facts } = gpus();
if (devices.length === 0) {
  for (const [name, found] of Object.entries(facts)) console.log(`${name}: ${found}`);
  console.log('NOT RUN: this host has no GPU that foldstep can use');
  process.exit(3);
}
console.log(devices.map((name) => facts[name]).join('\n'));

const verdicts = [];
const step = bench(['step', '--elements', `${2 ** 20},${2 ** 24},${ELEMENTS}`]);
for (const { operation, elements, medianMs, bandwidthGBs, fractionOfCopy } of step.rows) {
  const text = `${operation} of ${elements}: ${medianMs.toFixed(3)} ms, ${bandwidthGBs.toFixed(0)} GB/s`;
  const fraction = fractionOfCopy === null ? '' : `, ${fractionOfCopy.toFixed(2)} of copies`;
  const judged = elements === ELEMENTS && JUDGED.includes(operation);
  judge(judged, `${text}${fraction}`, fractionOfCopy >= LEAST_FRACTION);
}
for (const ranks of [2, 4]) {
  // Two processes share a card where there is but one.
  const { rows } = bench(['boundary', '--ranks', String(ranks), '--elements', `${2 ** 20},${2 ** 24}`]);
  for (const { path, elements, medianMs, temporaryPeakBytes, allocatorPeakBytes, value } of rows) {
    const text = `${path} of ${elements} on ${ranks} ranks: ${medianMs.toFixed(3)} ms, ${temporaryPeakBytes} B temporary (CUDA: ${allocatorPeakBytes} B), ${value}`;
    judge(SHARED_PATHS.includes(path), text, temporaryPeakBytes === 0 && value === 1.00390625);
  }
}
const missed = verdicts.filter((reached) => !reached).length;
console.log(
  missed === 0 ? `REACHED: all ${verdicts.length} targets` : `MISSED: ${missed} of ${verdicts.length}`,
);
process.exit(missed === 0 ? 0 : 1);

function bench(args) {
  const command = ['dist/cli/main.js', 'bench', ...args, '--backend', 'cuda', '--json'];
  const { status, stdout } = spawnSync(process.execPath, command, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  });
  if (status === 0) return JSON.parse(stdout);
  console.log(`FAILED: foldstep bench ${args.join(' ')} ended with ${status}`);
  process.exit(1);
}

function judge(judged, text, reached) {
  console.log(`${judged ? (reached ? 'reached' : 'MISSED ') : '       '}  ${text}`);
  if (judged) verdicts.push(reached);
}
