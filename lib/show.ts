import { inspect, types } from 'node:util';

const LONGEST_VALUE = 100;
// A path or a tensor's name that is cut no longer says which one it is.
const LONGEST_NAME = 400;
const LONGEST_REASON = 600;
const MOST_FIELDS = 16;
const LARGEST_BIGINT = 10n ** 60n;

const OPTIONS = {
  customInspect: false,
  getters: false,
  maxArrayLength: 6,
  maxStringLength: 40,
  compact: true,
  breakLength: Number.POSITIVE_INFINITY,
} as const;

/** What a name may be made of to stand without quotes. */
const ONE_WORD = /^[\p{L}\p{M}\p{N}_./:@+\-#[\]]+$/u;
// Controls; formats, among them the marks that turn the direction of text; halves of characters; line separators.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Any value as text for a message: one line of at most about 100 characters, none of which a terminal obeys. It never
 * throws, whatever the value does where one looks at it.
 */
export function show(value: unknown): string {
  if (typeof value === 'string') return quote(value, LONGEST_VALUE);
  try {
    return showText(describe(value), LONGEST_VALUE);
  } catch {
    // A tag of its prototype or an error's stack may throw where `inspect` reads it.
    return `a value of type ${typeof value} that cannot be shown`;
  }
}

/** The name of a parameter, a field or a file, as `show` gives it, but without quotes where it reads as one word. */
export function showName(name: unknown): string {
  if (typeof name !== 'string') return show(name);
  return name.length <= LONGEST_NAME && ONE_WORD.test(name) ? name : quote(name, LONGEST_NAME);
}

/** What an error says, as `showText` does: system calls name the path again, however long it is. */
export function showReason(error: unknown): string {
  return types.isNativeError(error) ? showText(error.message, LONGEST_REASON) : show(error);
}

/** `text` with escapes in place of characters that a terminal obeys or that nobody sees. */
export function escapeUnsafe(text: string): string {
  return text.replace(
    UNSAFE,
    (character) =>
      SHORT_ESCAPES[character] ?? `\\u{${character.codePointAt(0)!.toString(16).padStart(4, '0')}}`,
  );
}

function describe(value: unknown): string {
  if (typeof value === 'bigint' && (value > LARGEST_BIGINT || value < -LARGEST_BIGINT)) {
    return 'a BigInt of more than 60 digits';
  }
  if (types.isProxy(value)) return 'a Proxy';
  if (types.isNativeError(value)) return inspect(value, OPTIONS).split('\n', 1)[0]!;
  return inspect(value, { ...OPTIONS, depth: isShownWhole(value) ? 0 : -1 });
}

/** Whether the fields of `value` say more than its class, and are few. */
function isShownWhole(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value) || types.isTypedArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  // Every realm has an `Object.prototype` of its own; it is where the chain ends.
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return plain && Object.keys(value).length <= MOST_FIELDS;
}

function quote(text: string, longest: number): string {
  const escaped = escapeUnsafe(truncate(text, longest).replace(/['\\]/g, '\\$&'));
  if (text.length <= longest && escaped.length <= longest) return `'${escaped}'`;
  return `'${truncate(escaped, longest)}…' (${text.length} characters)`;
}

/** `text` as it is, but escaped, and cut after `longest` characters. */
export function showText(text: string, longest: number): string {
  const escaped = escapeUnsafe(truncate(text, longest));
  return text.length <= longest && escaped.length <= longest ? escaped : `${truncate(escaped, longest)}…`;
}

/** At most `longest` characters, and no half of one where it cuts. */
function truncate(text: string, longest: number): string {
  return text.length <= longest ? text : text.slice(0, longest).replace(/[\ud800-\udbff]$/, '');
}
