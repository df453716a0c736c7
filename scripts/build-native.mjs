// Builds the addon with cmake-js. Options: --tests (the native test programs too), --sanitize (into build/sanitize).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
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
  FOLDSTEP_CUDA_ARCHITECTURES: process.env['FOLDSTEP_CUDA_ARCHITECTURES'] ?? '',
  FOLDSTEP_SANITIZE: sanitize ? 'ON' : 'OFF',
  ...(tests ? { FOLDSTEP_TESTS: 'ON' } : {}),
};
// Inside node-gyp's make these would reach the inner make and end it.
const { MAKEFLAGS: _flags, MFLAGS: _mflags, MAKELEVEL: _level, ...env } = process.env;

const NVCC = ['/usr/local/cuda/bin/nvcc', '/usr/bin/nvcc', '/usr/local/bin/nvcc'];
const NCCL = [
  join(root, 'build/nccl/nvidia/nccl/include/nccl.h'),
  '/usr/include/nccl.h',
  '/usr/local/include/nccl.h',
];

// cmake-js configures a tree once; one that was configured with other options, or before there was an MPI, must be so
// again.
if (!isConfigured()) run('configure');
run('compile');

function isConfigured() {
  const cache = join(tree, 'CMakeCache.txt');
  if (!existsSync(cache)) return false;
  const lines = readFileSync(cache, 'utf8').split('\n');
  if (lines.some((line) => /^MPI_C_COMPILER:.*-NOTFOUND$/.test(line))) return false;
  if (hasAppeared('FOLDSTEP_NVCC', NVCC) || hasAppeared('FOLDSTEP_NCCL_INCLUDE', NCCL)) return false;
  return Object.entries(options).every(([key, value]) =>
    lines.some((line) => line.startsWith(`${key}:`) && line.endsWith(`=${value}`)),
  );
}

/** Whether what was not found when the tree was configured is there now. */
function hasAppeared(variable, places) {
  const cache = readFileSync(join(tree, 'CMakeCache.txt'), 'utf8');
  return (
    new RegExp(`^${variable}:.*-NOTFOUND$`, 'm').test(cache) && places.some((place) => existsSync(place))
  );
}

function run(command) {
  const { status, error } = spawnSync(
    process.execPath,
    [
      cmakeJs,
      command,
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
  if (status !== 0) process.exit(status ?? 1);
}
