// Brings NCCL's header and library through pip into build/nccl, where the build finds them: the version that scripts/nccl
// names for the host's CUDA, and no other bytes than those whose hash it gives. An argument, the file of a wheel, is
// installed instead as it is.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.mjs';

const target = join(root, 'build/nccl');
const python = process.env['FOLDSTEP_PYTHON'] ?? 'python3';
const wheel = process.argv[2];
const what = wheel === undefined ? ['--require-hashes', '--requirement', pinned()] : [wheel];
const { status, error } = spawnSync(
  python,
  ['-m', 'pip', 'install', '--no-deps', '--upgrade', '--quiet', '--target', target, ...what],
  { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
);
if (error?.code === 'ENOENT') {
  console.error(`NCCL comes through pip, and there is no ${python} here; FOLDSTEP_PYTHON names another one`);
  process.exit(1);
}
if (error) throw error;
if (status !== 0 || !existsSync(join(target, 'nvidia/nccl/include/nccl.h'))) {
  console.error(`pip did not bring NCCL (${what.at(-1)}); see above`);
  process.exit(status || 1);
}
// A tree that was configured without it must be so again.
for (const tree of ['cmake', 'cmake-sanitize'])
  rmSync(join(root, 'build', tree, 'CMakeCache.txt'), { force: true });
console.log(`NCCL is in ${target}; build again with: npm run build:native`);

/** The file with the version and its hashes. NCCL is built for a major version of CUDA. */
function pinned() {
  const nvcc = existsSync('/usr/local/cuda/bin/nvcc') ? '/usr/local/cuda/bin/nvcc' : 'nvcc';
  const { stdout } = spawnSync(nvcc, ['--version'], { encoding: 'utf8' });
  const major = /release (\d+)/.exec(stdout ?? '')?.[1] ?? '13';
  const file = join(root, `scripts/nccl/cu${major}.txt`);
  if (existsSync(file)) return file;
  console.error(
    `scripts/nccl names no version for CUDA ${major}; give the file of a wheel that is made for it`,
  );
  process.exit(1);
}
