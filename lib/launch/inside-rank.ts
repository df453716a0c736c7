import { FoldstepError } from '../errors.js';

/** By which a launcher tells a process that it is a rank: that of Open MPI, of PMIx, of Hydra. */
const RANK_VARIABLES = ['OMPI_COMM_WORLD_RANK', 'PMIX_RANK', 'MPI_LOCALRANKID'];

/** What to do instead of starting a job inside a rank. */
export const GO_OUTSIDE = 'start it from a shell outside of every job';

/**
 * Says so where this process is a rank, or a rank has started it: launchers take what they start there for a part of the
 * running job.
 */
export function insideRank(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const variable = RANK_VARIABLES.find((name) => env[name] !== undefined);
  if (variable === undefined) return undefined;
  return `no job can be started inside a rank, and this process is inside one (${variable} is ${env[variable]})`;
}

/** Throws LAUNCH_FAILED inside a rank. */
export function checkOutsideRank(): void {
  const inside = insideRank();
  if (inside !== undefined) throw new FoldstepError('LAUNCH_FAILED', `${inside}; ${GO_OUTSIDE}`);
}
