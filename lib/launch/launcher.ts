import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { FoldstepError } from '../errors.js';

/** The MPI implementations whose launchers take different flags. */
export type LauncherFlavour = 'openmpi' | 'hydra';

/** The program that starts MPI ranks on this host. */
export interface Launcher {
  /** Absolute path. */
  readonly file: string;
  readonly flavour: LauncherFlavour;
  /** First line of what it says of itself. */
  readonly version: string;
}

/** A program to start. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** How to get a launcher, in one sentence. */
export const INSTALL_MPI =
  'install Open MPI with "apt-get install openmpi-bin libopenmpi-dev", then run "npm run build:native"';

/** The first `mpirun` or `mpiexec` in PATH. Throws LAUNCH_FAILED where there is none, or it is of no known kind. */
export function findLauncher(): Launcher {
  const file = findProgram('mpirun') ?? findProgram('mpiexec');
  if (file === undefined) {
    throw new FoldstepError('LAUNCH_FAILED', `there is no mpirun or mpiexec in PATH; ${INSTALL_MPI}`);
  }
  const asked = spawnSync(file, ['--version'], { encoding: 'utf8', env: quietEnvironment(process.env) });
  const text = `${asked.stdout ?? ''}${asked.stderr ?? ''}`;
  const flavour = flavourOf(text);
  if (asked.status !== 0 || flavour === undefined) {
    const said = text.trim().split('\n')[0] || asked.error?.message || `exit code ${asked.status}`;
    throw new FoldstepError(
      'LAUNCH_FAILED',
      `${file} --version says neither Open MPI nor MPICH (${said}); ${INSTALL_MPI}`,
    );
  }
  return { file, flavour, version: text.trim().split('\n')[0]! };
}

/** What `mpirun --version` says, as a flavour. */
export function flavourOf(version: string): LauncherFlavour | undefined {
  if (/open ?mpi|open-mpi|prte/i.test(version)) return 'openmpi';
  if (/hydra|mpich|intel\(r\) mpi/i.test(version)) return 'hydra';
  return undefined;
}

/** What a rank takes before it has done anything: most of it Node.js. */
const RANK_BYTES = 48 * 2 ** 20;

/**
 * The command that starts `ranks` ranks; a program and its arguments are to follow. Throws LAUNCH_FAILED for more than the
 * host's memory holds: it would come to a stop before the last of them had started.
 */
export function launchCommand({ file, flavour }: Launcher, ranks: number): Command {
  const most = Math.floor(totalmem() / RANK_BYTES);
  if (ranks > most) {
    throw new FoldstepError(
      'LAUNCH_FAILED',
      `${ranks} ranks of some ${RANK_BYTES / 2 ** 20} MiB each do not fit into this host's memory; it holds at most ${most}`,
    );
  }
  const count = ['-n', String(ranks)];
  if (flavour === 'hydra') return { file, args: count, env: process.env };
  return {
    file,
    // Quiet: what a failing rank says for itself must not drown in the launcher's account of it. Oversubscribe always:
    // Open MPI counts cores, not hardware threads, and a host may be meant to run more ranks than it has of either.
    args: ['-q', '--oversubscribe', '--bind-to', 'none', ...count],
    env: quietEnvironment(process.env),
  };
}

/** A command prefix after which a process is killed when its parent dies, however it dies; empty where that cannot be had. */
export function dieWithParent(): string[] {
  const setpriv = findProgram('setpriv');
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL'];
}

/** Absolute path of a program: of one in PATH, or of one named with its folder. */
export function findProgram(name: string): string | undefined {
  if (name.includes('/')) return isProgram(name) ? resolve(name) : undefined;
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Settings of Open MPI that keep it going, and quiet, as root and in containers. The user's own settings win. */
function quietEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const root = process.getuid?.() === 0;
  return {
    ...(root ? { OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' } : {}),
    // Containers refuse cross-memory attach: each rank would say so on its stderr.
    OMPI_MCA_btl_vader_single_copy_mechanism: 'none',
    // Parts of a distribution's build that this host lacks libraries for are not worth a warning.
    OMPI_MCA_mca_base_component_show_load_errors: '0',
    OMPI_MCA_btl_base_warn_component_unused: '0',
    // The default store of PMIx 4 logs errors about locks that do no harm.
    PMIX_MCA_gds: 'hash',
    ...env,
  };
}
