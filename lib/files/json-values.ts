import { showName } from '../show.js';
import { type Fault, JsonTokens, TOKEN } from './json-tokens.js';

/** Levels in which a value may nest that nobody reads. */
const DEEPEST = 128;
const FEW_KEYS = 8;

/** What `JSON.parse` gives. Throws `fault` for what is no JSON, nests deep, or has a key twice. */
export function parseJson(bytes: Uint8Array, fault: Fault): unknown {
  const tokens = new JsonTokens(bytes, fault);
  skipValue(tokens);
  tokens.end();
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** What tells keys that are there twice: a caller that keeps the values by their keys knows them already. */
export interface NewKeys {
  /** Whether no `add` or `readValue` before this had the key. */
  add(key: string): boolean;
}

/**
 * Passes an object; `readValue` must pass the value of the key that it is given. Throws for a key that is there twice,
 * however it is spelt: `JSON.parse` would keep the last in silence.
 */
export function readObject(
  tokens: JsonTokens,
  readValue: (key: string) => void,
  keys: NewKeys = new Keys(),
): void {
  tokens.take(TOKEN.openObject);
  if (tokens.takes(TOKEN.closeObject)) return;
  do readValue(readKey(tokens, keys));
  while (tokens.takes(TOKEN.comma));
  tokens.take(TOKEN.closeObject);
}

/** Passes a list of whole numbers; undefined for any other value, which is passed too. */
export function readCounts(tokens: JsonTokens): number[] | undefined {
  if (tokens.peek() !== TOKEN.openList) {
    skipValue(tokens);
    return undefined;
  }
  tokens.take(TOKEN.openList);
  const counts: number[] = [];
  if (tokens.takes(TOKEN.closeList)) return counts;
  let valid = true;
  do {
    const count = readCount(tokens);
    if (count === undefined) valid = false;
    else if (valid) counts.push(count);
  } while (tokens.takes(TOKEN.comma));
  tokens.take(TOKEN.closeList);
  return valid ? counts : undefined;
}

/** Passes any value. */
export function skipValue(tokens: JsonTokens): void {
  // The lists and objects that are open, with the keys of each object. Calls could not nest as deep as a hostile text.
  const open: (Keys | undefined)[] = [];
  do {
    if (opens(tokens)) {
      const isObject = tokens.peek() === TOKEN.openObject;
      tokens.take(isObject ? TOKEN.openObject : TOKEN.openList);
      if (!tokens.takes(isObject ? TOKEN.closeObject : TOKEN.closeList)) {
        if (open.length === DEEPEST) throw tokens.wrong(`values nest more than ${DEEPEST} levels deep`);
        const keys = isObject ? new Keys() : undefined;
        open.push(keys);
        if (keys) readKey(tokens, keys);
        continue;
      }
    } else tokens.scalar();
    while (open.length > 0 && !tokens.takes(TOKEN.comma)) {
      tokens.take(open.pop() ? TOKEN.closeObject : TOKEN.closeList);
    }
    const keys = open.at(-1);
    if (keys) readKey(tokens, keys);
  } while (open.length > 0);
}

function readCount(tokens: JsonTokens): number | undefined {
  if (!opens(tokens)) return tokens.count();
  skipValue(tokens);
  return undefined;
}

function opens(tokens: JsonTokens): boolean {
  const byte = tokens.peek();
  return byte === TOKEN.openList || byte === TOKEN.openObject;
}

function readKey(tokens: JsonTokens, keys: NewKeys): string {
  const key = tokens.text();
  if (!keys.add(key)) throw tokens.wrong(`${showName(key)} is there twice`);
  tokens.take(TOKEN.colon);
  return key;
}

/** The keys of one object. Most have few, and a set for each would take longer than all else. */
class Keys implements NewKeys {
  readonly #few: string[] = [];
  #many: Set<string> | undefined;

  /** Whether the key is a new one. */
  add(key: string): boolean {
    if (!this.#many) {
      if (this.#few.includes(key)) return false;
      this.#few.push(key);
      if (this.#few.length > FEW_KEYS) this.#many = new Set(this.#few);
      return true;
    }
    const { size } = this.#many;
    return this.#many.add(key).size > size;
  }
}
