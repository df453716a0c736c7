import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import bindings from 'bindings';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';
import type { NativeAddon } from './types.js';

const PACKAGE_ROOT = fileURLToPath(new URL('../..', import.meta.url));

let loaded: NativeAddon | undefined;

/**
 * The addon, loaded at the first call, so that foldstep can be imported where it is not built. The environment variable
 * FOLDSTEP_ADDON names another file than the package's own. Throws ADDON_NOT_BUILT with every reason and the remedy.
 */
export function addon(): NativeAddon {
  loaded ??= load();
  return loaded;
}

function load(): NativeAddon {
  const file = process.env['FOLDSTEP_ADDON'];
  try {
    if (file) return createRequire(import.meta.url)(resolve(file)) as NativeAddon;
    return bindings({ bindings: 'foldstep.node', module_root: PACKAGE_ROOT }) as NativeAddon;
  } catch (error) {
    throw notBuilt(error, file);
  }
}

function notBuilt(error: unknown, file: string | undefined): FoldstepError {
  const reason = error instanceof Error ? error.message : show(error);
  const where = file ? `FOLDSTEP_ADDON names ${file}` : `the package is in ${PACKAGE_ROOT}`;
  return new FoldstepError(
    'ADDON_NOT_BUILT',
    [
      "foldstep's native addon could not be loaded.",
      `  Reason: ${reason.replaceAll('\n', '\n    ')}`,
      `  Node ${process.version} on ${process.platform}-${process.arch}; ${where}.`,
      'Possible solutions:',
      '  - Build it: `npm run build:native` in the package folder. That needs a C++20 compiler, make and CMake 3.18;',
      '    on Debian: apt-get install g++ make cmake openmpi-bin libopenmpi-dev',
      '  - If it was built for another Node, machine or C library, build it again here.',
      '  - `npx foldstep doctor` shows what this machine has and lacks.',
    ].join('\n'),
    { cause: error },
  );
}
