import { FoldstepError } from '#lib/errors.js';

/** What a job can tell of an error. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly parameter?: string;
  readonly rank?: number;
  readonly peer?: number;
}

/** The FoldstepError that `action` throws; fails if nothing is refused. */
export async function refusal(action: () => unknown): Promise<Refusal> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof FoldstepError)) throw error;
    const { code, message, parameter, rank, peer } = error;
    return JSON.parse(JSON.stringify({ code, message, parameter, rank, peer })) as Refusal;
  }
  throw new Error('nothing was refused');
}
