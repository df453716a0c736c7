// Runs all tests and ends with the line "N passed, N failed, N skipped".
//   --lint       formatter and linter checks first
//   --sanitized  the part that scripts/sanitize.mjs runs, on its build
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import Mocha from 'mocha';
import { filesUnder } from './files.mjs';
import { root } from './root.mjs';
import { testNative } from './test-native.mjs';

const lint = process.argv.includes('--lint');
const sanitized = process.argv.includes('--sanitized');
/** What goes through native code. */
const SANITIZED_FOLDERS = ['test/unit/device', 'test/ranks'];

const total = { passed: 0, failed: 0, skipped: 0 };
if (lint) {
  count(check('biome', ['npx', 'biome', 'check', '.']));
  count(check('clang-format', [process.execPath, 'scripts/format-native.mjs', '--check']));
}
if (!sanitized)
  count(check('native test programs build', [process.execPath, 'scripts/build-native.mjs', '--tests']));
count(testNative(sanitized ? 'sanitize' : 'Release'));
count(await testMocha(sanitized ? SANITIZED_FOLDERS : ['test']));
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exit(total.failed > 0 ? 1 : 0);

function count(counts) {
  for (const key of Object.keys(total)) total[key] += counts[key];
}

function check(name, [file, ...args]) {
  const { status } = spawnSync(file, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  console.log(`  ${status === 0 ? 'ok' : 'FAILED'}  ${name}`);
  return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0 };
}

async function testMocha(folders) {
  // A limit for tests that hang, not a measure: jobs of many ranks take their time on few processors.
  const mocha = new Mocha({ reporter: 'spec', timeout: 240_000 });
  // From the sources: what was compiled once and is no more would still lie in build.
  for (const file of folders.flatMap((folder) => filesUnder(folder, /\.test\.ts$/))) {
    mocha.addFile(join(root, 'build', file.replace(/\.ts$/, '.js')));
  }
  await mocha.loadFilesAsync();
  const { stats } = await new Promise((resolve) => {
    const runner = mocha.run(() => resolve(runner));
  });
  return { passed: stats.passes, failed: stats.failures, skipped: stats.pending };
}
