// Runs the native test programs, which print TAP. One started by several counts of ranks counts each time.
import { spawnSync } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { findLauncher, launchCommand } from '../dist/launch/launcher.js';
import { filesUnder } from './files.mjs';
import { root } from './root.mjs';

/** How many ranks the programs of a folder are started as; 0: without a launcher. */
const RANKS = { native: [0], 'native-ranks': [1, 2, 3, 4, 8], 'native-fold': [2, 3, 4, 8] };

/** Runs every program under `build/<output>/tests`; gives {passed, failed, skipped}. */
export function testNative(output) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const programs = filesUnder(join('build', output, 'tests'), /^[^.]+$/);
  for (const program of programs) {
    for (const ranks of RANKS[basename(dirname(program))]) {
      const counts = runProgram(program, ranks, output);
      for (const key of Object.keys(total)) total[key] += counts[key];
    }
  }
  return total;
}

function runProgram(program, ranks, output) {
  const { file, args, env } =
    ranks === 0
      ? { file: join(root, program), args: [], env: process.env }
      : launchCommand(findLauncher(), ranks, [join(root, program)]);
  const plugin = join(root, 'build', output, 'foldstep_mpi.so');
  const { status, signal, stdout, stderr } = spawnSync(file, args, {
    cwd: root,
    env: { ...env, FOLDSTEP_MPI_PLUGIN: plugin },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  const counts = readTap(stdout);
  const ended = signal ?? status;
  // A program that fails without a failed line, or stops short of its plan, has failed too.
  if (counts.failed === 0 && (ended !== 0 || !counts.complete)) {
    counts.failed = 1;
    console.log(stderr.trim());
  }
  const name = `${basename(dirname(program))}/${basename(program)}${ranks > 0 ? ` on ${ranks} ranks` : ''}`;
  console.log(
    `  ${counts.failed > 0 ? 'FAILED' : 'ok'}  ${name}: ${counts.passed} passed, ${counts.failed} failed`,
  );
  for (const line of counts.lines) console.log(`          ${line}`);
  if (ended !== 0) console.log(`          it ended with ${ended}`);
  return counts;
}

function readTap(text) {
  const lines = text.split('\n');
  const skipped = lines.filter((line) => /^ok\b.*#\s*skip/i.test(line)).length;
  const passed = lines.filter((line) => /^ok\b/.test(line)).length - skipped;
  const failures = lines.filter((line) => /^not ok\b/.test(line));
  const plan = lines.map((line) => /^1\.\.(\d+)/.exec(line)?.[1]).find((count) => count !== undefined);
  const complete = Number(plan) === passed + skipped + failures.length;
  return { passed, failed: failures.length, skipped, complete, lines: failures };
}
