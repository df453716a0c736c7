/** Right arguments with something else in one place. */
export interface Altered {
  readonly where: string;
  readonly args: unknown[];
}

/**
 * Every place in some right arguments: each argument, each field of an object and each element of an array in it, and one
 * argument and one field more than there are.
 */
export function* alter(args: readonly unknown[], make: () => unknown): Generator<Altered> {
  for (const path of placesOf([...args, undefined])) {
    yield { where: path.join('.'), args: replaced(args, path, make()) as unknown[] };
  }
}

type Path = readonly (string | number)[];

function* placesOf(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (Array.isArray(value)) {
    for (const i of value.keys()) yield* placesOf(value[i], [...path, i]);
  } else if (isPlain(value)) {
    for (const [field, inner] of Object.entries(value)) yield* placesOf(inner, [...path, field]);
    yield [...path, 'unheardOf'];
  }
}

/** A copy of `value` with `made` at `path`; objects of classes are not copied. */
function replaced(value: unknown, path: Path, made: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return made;
  const copy = Array.isArray(value) ? [...value] : { ...(value as object) };
  const holder = copy as Record<string | number, unknown>;
  holder[first] = replaced(holder[first], rest, made);
  return copy;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
