import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './root.mjs';

/** Files under a folder of the repository whose names match, at any depth, sorted; paths from the repository's top. */
export function filesUnder(folder, pattern) {
  const top = join(root, folder);
  if (!existsSync(top)) return [];
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
