// Runs on NVIDIA GPUs everything there is to run there, and ends with a verdict. Exit code 0: all passed; 1: something
// failed; 3: there is no GPU, and nothing was run.
import { spawnSync } from 'node:child_process';
import { findProgram } from '../dist/launch/launcher.js';
import { gpus } from './gpus.mjs';
import { DEVICE_RANK_TESTS } from './rank-tests.mjs';
import { root } from './root.mjs';

const KERNELS = ['device/kernels'];
const JOBS = DEVICE_RANK_TESTS.map((name) => `ranks/${name}`);
const REPLAYS = ['device/replay'];

const { devices, facts } = gpus();
for (const [name, found] of Object.entries(facts)) console.log(`${name}: ${found}`);
if (devices.length === 0) {
  console.log('NOT RUN: this host has no GPU that foldstep can use');
  process.exit(3);
}

const failures = [];
mocha('kernels against the CPU, bit for bit', KERNELS, { CUDA_VISIBLE_DEVICES: '0' });
mocha('several processes on one GPU, by IPC and without NCCL', [...JOBS, ...REPLAYS], {
  CUDA_VISIBLE_DEVICES: '0',
});
if (devices.length > 1) mocha(`${devices.length} GPUs`, [...JOBS, ...REPLAYS], {});
const sanitizer = findProgram('compute-sanitizer') ?? findProgram('/usr/local/cuda/bin/compute-sanitizer');
if (sanitizer === undefined) console.log('compute-sanitizer is not installed: its checks were not run');
for (const tool of sanitizer === undefined ? [] : ['memcheck', 'racecheck', 'synccheck', 'initcheck']) {
  const command = [sanitizer, '--tool', tool, '--target-processes', 'all', '--error-exitcode', '9'];
  mocha(`compute-sanitizer ${tool}`, KERNELS, { CUDA_VISIBLE_DEVICES: '0' }, command);
}
console.log(failures.length === 0 ? 'PASSED on every GPU' : `FAILED: ${failures.join('; ')}`);
process.exit(failures.length === 0 ? 0 : 1);

function mocha(what, files, env, prefix = []) {
  console.log(`\n== ${what}`);
  const tests = files.map((file) => `build/test/${file}.test.js`);
  const [file, ...args] = [...prefix, process.execPath, 'node_modules/mocha/bin/mocha.js', ...tests];
  const { status } = spawnSync(file, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env, FOLDSTEP_TEST_DEVICE: 'cuda' },
  });
  if (status !== 0) failures.push(what);
}
