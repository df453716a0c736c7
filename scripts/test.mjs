// Runs all tests and ends with the line "N passed, N failed, N skipped".
//   --lint       formatter and linter checks first
//   --sanitized  the part that scripts/sanitize.mjs runs, on its build
//   --simulated  the tests of several ranks alone, on the simulated GPU
//   --sanitize   a part of them under sanitizers too
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import Mocha from 'mocha';
import { checkKernels } from './check-kernels.mjs';
import { checkModel } from './check-model.mjs';
import { checkMutations } from './check-mutations.mjs';
import { checkTsan } from './check-tsan.mjs';
import { filesUnder } from './files.mjs';
import { DEVICE_RANK_TESTS } from './rank-tests.mjs';
import { root } from './root.mjs';
import { sanitizePart } from './sanitize-part.mjs';
import { testNative } from './test-native.mjs';

const lint = process.argv.includes('--lint');
const sanitized = process.argv.includes('--sanitized');
const simulated = process.argv.includes('--simulated');
/** What goes through native code. */
const SANITIZED_FOLDERS = ['test/unit/device', 'test/ranks'];

let counted = performance.now();
const total = { passed: 0, failed: 0, skipped: 0 };
if (lint) {
  count(check('biome', ['npx', 'biome', 'check', '.']));
  count(check('clang-format', [process.execPath, 'scripts/format-native.mjs', '--check']));
}
if (simulated) {
  process.env['FOLDSTEP_TEST_DEVICE'] = 'simulated';
  count(await testMocha(DEVICE_RANK_TESTS.map((name) => `test/ranks/${name}`)));
} else if (sanitized) {
  count(testNative('sanitize'));
  count(await testMocha(SANITIZED_FOLDERS));
} else {
  count(check('native test programs build', [process.execPath, 'scripts/build-native.mjs', '--tests']));
  count(testNative('Release'));
  count(await testMocha(['test']));
  count(runApart(['scripts/test.mjs', '--simulated']));
  // Real jobs, in which some of what is asked for takes as long as a deadline.
  count(runApart(['scripts/test-faults.mjs', '--runs', '60', '--seed', '1']));
  count(checkMutations());
  count(await checkModel());
  count(checkTsan());
  count(await checkKernels());
  if (process.argv.includes('--sanitize')) count(sanitizePart());
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 ? 1 : 0);

/** Adds up, and tells how long it took: who makes the tests faster looks here. */
function count(counts) {
  const now = performance.now();
  console.log(`  in ${((now - counted) / 1000).toFixed(0)} s`);
  counted = now;
  for (const key of Object.keys(total)) total[key] += counts[key];
}

function check(name, [file, ...args]) {
  const { status } = spawnSync(file, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  console.log(`  ${status === 0 ? 'ok' : 'FAILED'}  ${name}`);
  return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0 };
}

/** A script that ends as this one does, in a process of its own: modules that one has loaded it does not load again. */
function runApart(command) {
  const { stdout } = spawnSync(process.execPath, command, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.stdout.write(stdout);
  const [, passed, failed, skipped] = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(stdout) ?? [
    0, 0, 1, 0,
  ];
  return { passed: Number(passed), failed: Number(failed), skipped: Number(skipped) };
}

/** `paths`: folders, or files without their `.test.ts`. */
async function testMocha(paths) {
  // A limit for tests that hang, not a measure: jobs of many ranks take their time on few processors.
  const mocha = new Mocha({ reporter: 'spec', timeout: 240_000 });
  // From the sources: what was compiled once and is no more would still lie in build.
  for (const file of filesUnder('test', /\.test\.ts$/).filter((name) =>
    paths.some((path) => isIn(name, path)),
  )) {
    mocha.addFile(join(root, 'build', file.replace(/\.ts$/, '.js')));
  }
  await mocha.loadFilesAsync();
  const { stats } = await new Promise((resolve) => {
    const runner = mocha.run(() => resolve(runner));
  });
  return { passed: stats.passes, failed: stats.failures, skipped: stats.pending };
}

function isIn(file, path) {
  return file.startsWith(`${path}/`) || file === `${path}.test.ts`;
}
