import { FoldstepError } from '../errors.js';

/** By which a launcher tells a process that it is a rank: that of Open MPI, of PMIx, of Hydra. */
const RANK_VARIABLES = ['OMPI_COMM_WORLD_RANK', 'PMIX_RANK', 'MPI_LOCALRANKID'];

/**
 * Throws LAUNCH_FAILED where this process is a rank, or a rank has started it: launchers take what they start there for a
 * part of the running job.
 */
export function checkOutsideRank(env: NodeJS.ProcessEnv = process.env): void {
  const variable = RANK_VARIABLES.find((name) => env[name] !== undefined);
  if (variable === undefined) return;
  throw new FoldstepError(
    'LAUNCH_FAILED',
    `no job can be started inside a rank, and this process is inside one (${variable} is ${env[variable]}); start the job from a shell outside of every job`,
  );
}
