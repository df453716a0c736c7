// Builds with AddressSanitizer and UndefinedBehaviorSanitizer and runs the tests that go through native code.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findLauncher } from '../dist/launch/launcher.js';
import { root } from './root.mjs';

const output = join(root, 'build/sanitize');
run([process.execPath, 'scripts/build-native.mjs', '--sanitize'], process.env);
run([process.execPath, 'scripts/test.mjs', '--sanitized'], {
  ...process.env,
  LD_PRELOAD: runTimeLibraries(),
  // V8 and MPI keep what they have to the end of the process.
  ASAN_OPTIONS: 'detect_leaks=0',
  UBSAN_OPTIONS: 'print_stacktrace=1',
  FOLDSTEP_ADDON: join(output, 'foldstep.node'),
  PATH: `${launcherFolder()}${delimiter}${process.env['PATH']}`,
});

/** Node itself is not built with the sanitizers, so their libraries must be there before it starts. */
function runTimeLibraries() {
  const paths = ['libasan.so', 'libubsan.so'].map((name) => {
    const { stdout } = spawnSync('g++', [`-print-file-name=${name}`], { encoding: 'utf8' });
    return stdout.trim();
  });
  return paths.join(':');
}

/** A folder with an mpirun that gives the libraries to the ranks alone: the launcher has faults of its own, which are not ours. */
function launcherFolder() {
  const folder = join(output, 'bin');
  const file = join(folder, 'mpirun');
  mkdirSync(folder, { recursive: true });
  const script = [
    '#!/bin/sh',
    'libraries=$LD_PRELOAD',
    'unset LD_PRELOAD',
    `exec '${findLauncher().file}' -x "LD_PRELOAD=$libraries" "$@"`,
  ];
  writeFileSync(file, `${script.join('\n')}\n`);
  chmodSync(file, 0o755);
  return folder;
}

function run([file, ...args], env) {
  const { status, error } = spawnSync(file, args, { cwd: root, env, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
