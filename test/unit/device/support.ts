import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { FoldstepError, type FoldstepErrorCode } from '#lib/errors.js';

/** A program of test/unit/device/children. */
export function child(name: string): string {
  return fileURLToPath(new URL(`./children/${name}.js`, import.meta.url));
}

/** The FoldstepError that `action` throws or rejects with; fails if it has another code, or if nothing is thrown. */
export async function refusal(code: FoldstepErrorCode, action: () => unknown): Promise<FoldstepError> {
  let thrown: unknown;
  try {
    await action();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).to.be.instanceOf(FoldstepError);
  expect(thrown).to.have.property('code', code);
  return thrown as FoldstepError;
}
