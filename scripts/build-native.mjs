// Builds the addon with cmake-js. Options: --tests (the native test programs too), --sanitize (into build/sanitize).
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const sanitize = process.argv.includes('--sanitize');
const tests = sanitize || process.argv.includes('--tests');
const tree = join(root, 'build', sanitize ? 'cmake-sanitize' : 'cmake');
const output = join(root, 'build', sanitize ? 'sanitize' : 'Release');
mkdirSync(tree, { recursive: true });

const cmakeJs = createRequire(import.meta.url).resolve('cmake-js/bin/cmake-js');
const options = {
  FOLDSTEP_OUTPUT_DIR: output,
  FOLDSTEP_SANITIZE: sanitize ? 'ON' : 'OFF',
  ...(tests ? { FOLDSTEP_TESTS: 'ON' } : {}),
};
// Inside node-gyp's make these would reach the inner make and end it.
const { MAKEFLAGS: _flags, MFLAGS: _mflags, MAKELEVEL: _level, ...env } = process.env;
const { status, error } = spawnSync(
  process.execPath,
  [
    cmakeJs,
    'compile',
    '--directory',
    root,
    '--out',
    tree,
    '--parallel',
    String(cpus().length),
    '--log-level',
    process.env['npm_config_loglevel'] === 'verbose' ? 'verbose' : 'warn',
    ...Object.entries(options).map(([key, value]) => `--CD${key}=${value}`),
  ],
  { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] },
);
if (error) throw error;
process.exit(status ?? 1);
