import { FoldstepError, type FoldstepErrorCode, type FoldstepErrorDetails } from '../errors.js';
import { show } from '../show.js';

/**
 * Runs what reads the arguments of a call and hands them to the addon; every error comes out as FoldstepError. What throws
 * without a code is the arguments: a proxy or a getter that fails, or a handle that is none of foldstep's.
 */
export function native<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw toFoldstepError(error);
  }
}

/** The same for what the addon promises. */
export async function nativeAsync<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toFoldstepError(error);
  }
}

/** What native code threw, as FoldstepError; anything else is a fault of the arguments. */
export function toFoldstepError(error: unknown): FoldstepError {
  if (error instanceof FoldstepError) return error;
  if (!(error instanceof Error && 'code' in error)) {
    const message = `the arguments of the call cannot be used: ${show(error)}`;
    return new FoldstepError('INVALID_ARGUMENT', message, { cause: error });
  }
  const { code, rank, peer } = error as Error & { code: FoldstepErrorCode } & FoldstepErrorDetails;
  return new FoldstepError(code, error.message, {
    ...(rank === undefined ? {} : { rank }),
    ...(peer === undefined ? {} : { peer }),
  });
}
