// Runs the native test programs, which print TAP. One started by several counts of ranks counts each time.
import { spawnSync } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { findLauncher, launchCommand } from '../dist/launch/launcher.js';
import { filesUnder } from './files.mjs';
import { root } from './root.mjs';

const ALONE = 0;

/** How many ranks the programs of a folder are started as; `ALONE`: without a launcher. */
const RANKS = {
  native: [ALONE],
  'native-simulated': [ALONE],
  'native-ranks': [1, 2, 3, 4, 8],
  'native-fold': [2, 3, 4, 8],
};

/** Programs that are for something else than the others of their folder. */
const EXCEPTIONS = {
  'native-ranks/alone': [ALONE],
  'native-ranks/collectives': [ALONE, 1, 2, 3, 8],
  'native-ranks/disagreements': [2, 4],
  'native-ranks/early_leaver': [2, 4],
  'native-ranks/endings': [ALONE],
  'native-ranks/large': [2, 4],
  'native-ranks/world': [2, 4],
  'native-simulated/nccl': [ALONE, 2, 4],
};

/** Longer than any of them takes: one that hangs is ended, and has failed. */
const LIMIT_MS = 300_000;

/**
 * Runs the programs of the folders in `counts`, as built into `build/<output>/tests`, each as as many ranks as are listed
 * there; gives {passed, failed, skipped}. Exceptions hold only where all folders are run.
 */
export function testNative(output, counts = RANKS) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const sources = Object.keys(counts).flatMap((folder) => filesUnder(`test/${folder}`, /\.cpp$/));
  for (const source of sources) {
    const name = `${basename(dirname(source))}/${basename(source, '.cpp')}`;
    const exception = counts === RANKS ? EXCEPTIONS[name] : undefined;
    for (const ranks of exception ?? counts[dirname(name)]) {
      const came = runProgram(name, ranks, output);
      for (const key of Object.keys(total)) total[key] += came[key];
    }
  }
  return total;
}

function runProgram(name, ranks, output) {
  const folder = join(root, 'build', output);
  const program = join(folder, 'tests', name);
  const launched = launchCommand(findLauncher(), Math.max(ranks, 1));
  const { file, args } =
    ranks === ALONE ? { file: program, args: [] } : { ...launched, args: [...launched.args, program] };
  const { status, signal, error, stdout, stderr } = spawnSync(file, args, {
    cwd: root,
    env: { ...launched.env, FOLDSTEP_MPI_PLUGIN: join(folder, 'foldstep_mpi.so') },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    timeout: LIMIT_MS,
  });
  const counts = readTap(stdout ?? '');
  const ended = error?.message ?? signal ?? status;
  // A program that fails without a failed line, or stops short of its plan, has failed too.
  if (counts.failed === 0 && (ended !== 0 || !counts.complete)) counts.failed = 1;
  const verdict = counts.failed > 0 ? 'FAILED' : 'ok';
  const where = ranks === ALONE ? '' : ` on ${ranks} ${ranks === 1 ? 'rank' : 'ranks'}`;
  console.log(`  ${verdict}  ${name}${where}: ${counts.passed} passed, ${counts.failed} failed`);
  if (counts.failed > 0) console.log([...counts.failures, stderr, `it ended with ${ended}`].join('\n'));
  return counts;
}

function readTap(text) {
  const lines = text.split(/\r?\n/);
  const skipped = lines.filter((line) => /^ok\b.*#\s*skip/i.test(line)).length;
  const passed = lines.filter((line) => /^ok\b/.test(line)).length - skipped;
  const failures = lines.filter((line) => /^not ok\b/.test(line));
  const plan = lines.map((line) => /^1\.\.(\d+)/.exec(line)?.[1]).find((count) => count !== undefined);
  const complete = Number(plan) === passed + skipped + failures.length;
  return { passed, failed: failures.length, skipped, complete, failures };
}
