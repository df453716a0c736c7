import { FoldstepError, type FoldstepErrorDetails } from './errors.js';

/**
 * Throws INVALID_ARGUMENT unless `value` is an object whose fields are all among `known`: a misspelt option would be left
 * out in silence. `what` names it, for people.
 */
export function checkFields(
  what: string,
  value: unknown,
  known: readonly string[],
  details: FoldstepErrorDetails = {},
): void {
  if (typeof value !== 'object' || value === null) {
    throw new FoldstepError('INVALID_ARGUMENT', `${what} must be an object; it is ${String(value)}`, details);
  }
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown === undefined) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `${what} have no field ${unknown}; the fields are ${known.join(', ')}`,
    details,
  );
}

/** Throws INVALID_ARGUMENT unless `value` is made by `type`, or is an array where `type` is Array. */
export function checkInstance(
  what: string,
  value: unknown,
  type: abstract new (...args: never[]) => unknown,
): void {
  if (value instanceof type) return;
  throw new FoldstepError('INVALID_ARGUMENT', `${what} must be of ${type.name}; it is ${String(value)}`);
}
