import { FoldstepError, type FoldstepErrorCode, type FoldstepErrorDetails } from '../errors.js';

/** Runs what calls the addon; its errors come out as FoldstepError. */
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

function toFoldstepError(error: unknown): unknown {
  if (error instanceof FoldstepError || !(error instanceof Error) || !('code' in error)) return error;
  const { code, rank, peer } = error as Error & { code: FoldstepErrorCode } & FoldstepErrorDetails;
  return new FoldstepError(code, error.message, {
    ...(rank === undefined ? {} : { rank }),
    ...(peer === undefined ? {} : { peer }),
  });
}
