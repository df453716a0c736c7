import { FoldstepError, type FoldstepErrorCode, type FoldstepErrorDetails } from './errors.js';
import { show, showName } from './show.js';

/** How a check refuses: with this code, by default INVALID_ARGUMENT, and these details. */
export interface Refusal extends FoldstepErrorDetails {
  readonly code?: FoldstepErrorCode;
}

/**
 * The fields of `value` that are among `known`, each read once; those that are undefined are left out. Refuses what is no
 * object or has other fields: a misspelt option would be left out in silence. `what` names it, for people.
 */
export function checkFields<Fields extends object>(
  what: string,
  value: Fields,
  known: readonly string[],
  refusal: Refusal = {},
): Fields {
  checkObject(what, value, refusal);
  const names = reading(what, () => (Array.isArray(value) ? undefined : Object.keys(value)), refusal);
  if (!names) throw refused(`${what} must be an object; it is ${show(value)}`, refusal);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw refused(`${what} have no field ${showName(unknown)}; the fields are ${known.join(', ')}`, refusal);
  }
  const given = value as Record<string, unknown>;
  const fields = reading(what, () => known.map((name) => [name, given[name]] as const), refusal);
  return Object.fromEntries(fields.filter(([, field]) => field !== undefined)) as Fields;
}

/** Refuses what is no object. */
export function checkObject(what: string, value: unknown, refusal?: Refusal): void {
  if (typeof value === 'object' && value !== null) return;
  throw refused(`${what} must be an object; it is ${show(value)}`, refusal);
}

/**
 * Calls `each` on every element of an array and returns the results. Reads each element once. The array may come from any
 * JavaScript realm. Refuses what is no array.
 */
export function checkList<Item, Result = Item>(
  what: string,
  value: readonly Item[],
  each: (item: Item, index: number) => Result,
  refusal: Refusal = {},
): Result[] {
  const length = reading(what, () => (Array.isArray(value) ? value.length : undefined), refusal);
  if (length === undefined) throw refused(`${what} must be an array; it is ${show(value)}`, refusal);
  const results: Result[] = [];
  for (let i = 0; i < length; i++) {
    const item = reading(what, () => value[i]!, refusal);
    results.push(each(item, i));
  }
  return results;
}

/** The same of anything iterable but text, as far as `each` does not throw. */
export function checkIterable<Item, Result = Item>(
  what: string,
  value: Iterable<Item>,
  each: (item: Item, index: number) => Result,
): Result[] {
  const iterable =
    typeof value === 'object' && value !== null && reading(what, () => Symbol.iterator in value);
  if (!iterable) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `${what} must be a list or another iterable; it is ${show(value)}`,
    );
  }
  return reading(what, () => {
    const results: Result[] = [];
    for (const item of value) results.push(each(item, results.length));
    return results;
  });
}

/** Throws INVALID_ARGUMENT unless `value` is made by `type`, or is an array where `type` is Array. */
export function checkInstance(
  what: string,
  value: unknown,
  type: { readonly name: string; [Symbol.hasInstance](value: unknown): boolean },
): void {
  if (value instanceof type) return;
  throw new FoldstepError('INVALID_ARGUMENT', `${what} must be of ${type.name}; it is ${show(value)}`);
}

/** Throws INVALID_ARGUMENT unless `value` is a whole number from `least`. */
export function checkWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `${name} must be a whole number from ${least}; it is ${show(value)}`,
  );
}

/** Throws INVALID_ARGUMENT unless `value` is a number. */
export function checkNumber(name: string, value: number): void {
  if (typeof value === 'number') return;
  throw new FoldstepError('INVALID_ARGUMENT', `${name} must be a number; it is ${show(value)}`);
}

/** Throws INVALID_ARGUMENT unless `value` is a text. */
export function checkText(name: string, value: string): void {
  if (typeof value === 'string') return;
  throw new FoldstepError('INVALID_ARGUMENT', `${name} must be a text; it is ${show(value)}`);
}

/** Throws INVALID_ARGUMENT unless `value` is true or false. */
export function checkFlag(name: string, value: boolean): void {
  if (typeof value === 'boolean') return;
  throw new FoldstepError('INVALID_ARGUMENT', `${name} must be true or false; it is ${show(value)}`);
}

/** Throws INVALID_ARGUMENT unless `value` is among `allowed`. */
export function checkOneOf<Value>(name: string, value: Value, allowed: readonly Value[]): void {
  if (allowed.includes(value)) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `${name} must be one of ${allowed.map(show).join(', ')}; it is ${show(value)}`,
  );
}

/** What `read` gives. Throws where a getter, an iterator or a proxy of the caller's throws. */
export function reading<Result>(what: string, read: () => Result, refusal: Refusal = {}): Result {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof FoldstepError) throw cause;
    throw refused(`${what} cannot be read: ${show(cause)}`, { ...refusal, cause });
  }
}

function refused(fault: string, { code = 'INVALID_ARGUMENT', ...details }: Refusal = {}): FoldstepError {
  return new FoldstepError(code, fault, details);
}
