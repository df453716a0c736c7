import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { FoldstepError } from 'foldstep';

/** Every byte is a token. */
export const VOCABULARY = 256;

const HELD_OUT = 0.05;
/** Of less a model learns nothing worth looking at; the files of a whole installation have more than 2 MB. */
const LEAST_BYTES = 100_000;

export interface SplitText {
  readonly train: Uint8Array;
  readonly heldOut: Uint8Array;
}

/** The bytes to train on, and the last 5 % of them, which are not trained on. */
export function splitText(text: Uint8Array): SplitText {
  const boundary = text.length - Math.floor(HELD_OUT * text.length);
  return { train: text.subarray(0, boundary), heldOut: text.subarray(boundary) };
}

/** The bytes of a file. Throws INVALID_ARGUMENT where it cannot be read or is empty. */
export function fileText(file: string): Uint8Array {
  let text: Uint8Array;
  try {
    text = readFileSync(file);
  } catch (cause) {
    const why = (cause as Error).message;
    throw new FoldstepError('INVALID_ARGUMENT', `the text cannot be read: ${why}`, { cause });
  }
  if (text.length === 0) throw new FoldstepError('INVALID_ARGUMENT', `the text ${file} is empty`);
  return text;
}

/**
 * The declaration files of JavaScript's and the browser's libraries (`lib.*.d.ts`) that TypeScript brings, in the order of
 * their names. `from`: the module or file from which `typescript` is resolved. Throws INVALID_ARGUMENT where there are none.
 */
export function declarationText(from: string = import.meta.url): Uint8Array {
  const text = libraryFolders(from)
    .map(readDeclarations)
    .find(({ length }) => length >= LEAST_BYTES);
  if (text) return text;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `there are no declaration files of TypeScript to be found from ${from}: run "npm ci" in foldstep's folder, or give a text with --text FILE`,
  );
}

/** Where they may lie: in the package itself, or, since TypeScript 7, in that of the platform it was installed for. */
function libraryFolders(from: string): string[] {
  const manifest = resolve('typescript/package.json', from);
  if (manifest === undefined) return [];
  const { optionalDependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    optionalDependencies?: Record<string, string>;
  };
  const platforms = Object.keys(optionalDependencies).map((name) =>
    resolve(`${name}/package.json`, manifest),
  );
  return [manifest, ...platforms]
    .filter((file) => file !== undefined)
    .map((file) => join(dirname(file), 'lib'));
}

function resolve(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

function readDeclarations(folder: string): Uint8Array {
  // A worker's libraries repeat the browser's word for word: what is held out would have been trained on.
  const names = readdirSync(folder).filter(
    (name) => /^lib\..*d\.ts$/.test(name) && !name.startsWith('lib.webworker.'),
  );
  return Buffer.concat(names.sort().map((name) => readFileSync(join(folder, name))));
}
