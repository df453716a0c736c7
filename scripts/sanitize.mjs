// Builds with AddressSanitizer and UndefinedBehaviorSanitizer and runs the tests that go through native code.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './root.mjs';

run([process.execPath, 'scripts/build-native.mjs', '--sanitize'], process.env);

// Node itself is not built with them, so their run-time libraries must be there before it starts.
const libraries = ['libasan.so', 'libubsan.so'].map((name) => {
  const { stdout } = spawnSync('g++', [`-print-file-name=${name}`], { encoding: 'utf8' });
  return stdout.trim();
});
run([process.execPath, 'scripts/test.mjs', '--sanitized'], {
  ...process.env,
  LD_PRELOAD: libraries.join(':'),
  // V8 and MPI keep what they have to the end of the process.
  ASAN_OPTIONS: 'detect_leaks=0',
  UBSAN_OPTIONS: 'print_stacktrace=1',
  FOLDSTEP_ADDON: join(root, 'build/sanitize/foldstep.node'),
});

function run([file, ...args], env) {
  const { status, error } = spawnSync(file, args, { cwd: root, env, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
