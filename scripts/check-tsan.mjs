// Lets ranks meet on threads (test/tsan) by the signal kernel's own source, under ThreadSanitizer: no race, and a race
// where one is made on purpose.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesUnder } from './files.mjs';
import { root } from './root.mjs';

const FAULTS = ['relaxed-release', 'relaxed-acquire', 'no-exit'];
/** What ThreadSanitizer ends a program with in which it has found a race. */
const RACE = 66;
const LIMIT_MS = 110_000;

const COMPILER = 'g++';
const FLAGS = ['-std=c++20', '-O1', '-g', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-pthread'];

/** Gives {passed, failed, skipped}. */
export function checkTsan() {
  const scratch = mkdtempSync(join(tmpdir(), 'foldstep-tsan-'));
  try {
    if (!hasThreadSanitizer(scratch)) {
      console.log(
        '  the meetings were not run under ThreadSanitizer: no g++ with it here ("apt-get install g++")',
      );
      return { passed: 0, failed: 0, skipped: 1 };
    }
    return runAll(join(scratch, 'meetings'));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function hasThreadSanitizer(scratch) {
  const args = ['-fsanitize=thread', '-x', 'c++', '-', '-o', join(scratch, 'probe')];
  return spawnSync(COMPILER, args, { input: 'int main() {}' }).status === 0;
}

function runAll(program) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const report = (name, passed, text) => {
    counts[passed ? 'passed' : 'failed'] += 1;
    console.log(`  ${passed ? 'ok' : 'FAILED'}  meetings on threads: ${name}`);
    if (!passed) console.log(text);
  };
  const built = build(program);
  if (built.status !== 0) {
    report('build', false, built.stderr);
    return counts;
  }
  const { status, text } = run(program, []);
  report('no race', status === 0, text);
  for (const fault of FAULTS) {
    const made = run(program, [fault]);
    report(`a race with ${fault}`, made.status === RACE, `it ended with ${made.status}\n${made.text}`);
  }
  return counts;
}

function build(program) {
  const sources = ['native/cuda/kernels/signal.cu', ...filesUnder('test/tsan', /\.cpp$/)];
  const includes = ['native', 'test/tsan', 'test/simulated/include'].flatMap((folder) => ['-I', folder]);
  const options = ['-fsanitize=thread', '-ffp-contract=off', '-DFOLDSTEP_SIMULATED'];
  const args = [...FLAGS, ...options, ...includes, '-x', 'c++', ...sources, '-o', program];
  return spawnSync(COMPILER, args, { cwd: root, encoding: 'utf8' });
}

function run(program, args) {
  const { status, signal, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, TSAN_OPTIONS: `halt_on_error=1 exitcode=${RACE}` },
    maxBuffer: 2 ** 26,
    timeout: LIMIT_MS,
  });
  return { status: status ?? signal, text: stderr };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const counts = checkTsan();
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  process.exit(counts.failed > 0 ? 1 : 0);
}
