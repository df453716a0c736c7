// Formats the C++ sources with clang-format: --write mends them, --check fails on a difference.
import { spawnSync } from 'node:child_process';
import { filesUnder } from './files.mjs';
import { root } from './root.mjs';

const write = process.argv.includes('--write');
const files = ['native', 'test'].flatMap((folder) => filesUnder(folder, /\.(?:cpp|hpp|inl|h|cu|cuh)$/));
const args = write ? ['-i'] : ['--dry-run', '--Werror'];
const { status, error } = spawnSync('clang-format', [...args, ...files], { cwd: root, stdio: 'inherit' });
if (error?.code === 'ENOENT') {
  console.error(
    'C++ formatting was not checked: there is no clang-format here ("apt-get install clang-format")',
  );
  // In CI an unchecked format must not pass for a good one.
  process.exit(process.env['CI'] || write ? 1 : 0);
}
if (error) throw error;
process.exit(status ?? 1);
