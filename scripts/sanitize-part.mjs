// Builds the C++ test programs of the kernels, the windows and the fold with AddressSanitizer and
// UndefinedBehaviorSanitizer, and runs them: the part of `npm run test:sanitize` that is short enough for every run of CI.
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { root } from './root.mjs';
import { testNative } from './test-native.mjs';

/** How many ranks the programs of each folder are started as; 0: without a launcher. */
const RANKS = { native: [0], 'native-fold': [2, 3] };

/** Gives {passed, failed, skipped}. */
export function sanitizePart() {
  const tree = join(root, 'build/cmake-sanitize-part');
  const output = join(root, 'build/sanitize-part');
  const options = {
    FOLDSTEP_SANITIZE: 'ON',
    FOLDSTEP_TESTS: 'ON',
    FOLDSTEP_CUDA: 'OFF',
    FOLDSTEP_OUTPUT_DIR: output,
  };
  const settings = Object.entries(options).map(([key, value]) => `-D${key}=${value}`);
  const targets = ['sanitized_part', 'foldstep_mpi'];
  const built =
    run(['cmake', '-S', root, '-B', tree, ...settings]) &&
    run(['cmake', '--build', tree, '--parallel', String(cpus().length), '--target', ...targets]);
  console.log(`  ${built ? 'ok' : 'FAILED'}  the sanitized test programs build`);
  if (!built) return { passed: 0, failed: 1, skipped: 0 };
  // MPI keeps what it has to the end of the process.
  process.env['ASAN_OPTIONS'] = 'detect_leaks=0';
  const counts = testNative('sanitize-part', RANKS);
  delete process.env['ASAN_OPTIONS'];
  return { ...counts, passed: counts.passed + 1 };
}

function run([file, ...args]) {
  return spawnSync(file, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
