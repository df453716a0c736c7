import { isUtf8 } from 'node:buffer';
import { escapeUnsafe, show } from '../show.js';

/** The bytes that structure JSON. */
export const TOKEN = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openList: 0x5b,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

export type Fault = (text: string) => Error;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;
const UPPER_E = 0x45;
const LOWER_E = 0x65;
const END = -1;
const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word));
/** A value's own text is shown as far as this. */
const LONGEST_SHOWN = 120;

/**
 * The tokens of a JSON text in UTF-8, one after the other. White space before a token is passed over. Throws
 * `fault(what is wrong, and where)` for what is no JSON.
 */
export class JsonTokens {
  readonly #bytes: Buffer;
  readonly #fault: Fault;
  #at = 0;

  constructor(bytes: Uint8Array, fault: Fault) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#fault = fault;
    if (!isUtf8(bytes)) throw this.wrong('it is not UTF-8');
  }

  /** The next token's first byte, and -1 at the end. The token stays. */
  peek(): number {
    for (; this.#at < this.#bytes.length; this.#at++) {
      const byte = this.#bytes[this.#at]!;
      if (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB) return byte;
    }
    return END;
  }

  /** Whether the next token is `byte`, which is then passed. */
  takes(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.#at++;
    return true;
  }

  take(byte: number): void {
    if (!this.takes(byte)) throw this.unexpected(String.fromCharCode(byte));
  }

  /** Passes a text and gives what it says. */
  text(): string {
    this.take(TOKEN.quote);
    const start = this.#at;
    const { escaped, ascii } = this.#passText();
    const end = this.#at - 1;
    if (!escaped) return this.#bytes.toString(ascii ? 'latin1' : 'utf8', start, end);
    try {
      return JSON.parse(this.#bytes.toString('utf8', start - 1, end + 1)) as string;
    } catch {
      throw this.wrong(`the text at byte ${start - 1} has an escape that is none`);
    }
  }

  /** Passes a whole number from 0 to 2^53 - 1, or any other value that is no list and no object: undefined. */
  count(): number | undefined {
    this.peek();
    const bytes = this.#bytes;
    const start = this.#at;
    let at = start;
    let count = 0;
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte < ZERO || byte > NINE) break;
      count = count * 10 + (byte - ZERO);
    }
    this.scalar();
    // Passed further: a sign, a fraction or an exponent, which no size and no offset has.
    return this.#at === at && at > start && Number.isSafeInteger(count) ? count : undefined;
  }

  /** Passes a text, a number, `true`, `false` or `null`. */
  scalar(): void {
    const byte = this.peek();
    if (byte === TOKEN.quote) this.text();
    else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) this.#passNumber();
    else this.#passWord();
  }

  /** Throws where a further token follows. */
  end(): void {
    if (this.peek() !== END) throw this.unexpected('nothing more');
  }

  /** Where the next token begins. */
  get position(): number {
    this.peek();
    return this.#at;
  }

  /** The text from `position` to the last token passed, for a message: cut where it is long. */
  passedSince(position: number): string {
    const end = Math.min(this.#at, position + LONGEST_SHOWN);
    return escapeUnsafe(this.#bytes.toString('utf8', position, end)) + (end < this.#at ? '…' : '');
  }

  /** The error for a text that is no JSON to be read. */
  wrong(text: string): Error {
    return this.#fault(text);
  }

  /** The error for a token that is not `wanted`. */
  unexpected(wanted: string): Error {
    const byte = this.peek();
    const found = byte === END ? 'it ends' : `there is ${show(String.fromCharCode(byte))}`;
    return this.wrong(`at byte ${this.#at} ${found} where ${wanted} should be`);
  }

  #passText(): { escaped: boolean; ascii: boolean } {
    const bytes = this.#bytes;
    let escaped = false;
    let seen = 0;
    for (let at = this.#at; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === TOKEN.quote) {
        this.#at = at + 1;
        return { escaped, ascii: seen < 0x80 };
      }
      if (byte < SPACE) throw this.wrong(`the text at byte ${this.#at - 1} has a control character in it`);
      seen |= byte;
      if (byte === BACKSLASH) {
        escaped = true;
        at++;
      }
    }
    throw this.wrong(`the text at byte ${this.#at - 1} does not end`);
  }

  #passNumber(): void {
    if (this.#bytes[this.#at] === MINUS) this.#at++;
    if (this.#bytes[this.#at] === ZERO) this.#at++;
    else this.#passDigits();
    if (this.#bytes[this.#at] === POINT) {
      this.#at++;
      this.#passDigits();
    }
    const exponent = this.#bytes[this.#at];
    if (exponent !== LOWER_E && exponent !== UPPER_E) return;
    this.#at++;
    const sign = this.#bytes[this.#at];
    if (sign === PLUS || sign === MINUS) this.#at++;
    this.#passDigits();
  }

  #passDigits(): void {
    const start = this.#at;
    while (this.#bytes[this.#at]! >= ZERO && this.#bytes[this.#at]! <= NINE) this.#at++;
    if (this.#at === start) throw this.unexpected('a digit');
  }

  #passWord(): void {
    const word = WORDS.find((bytes) => bytes.equals(this.#bytes.subarray(this.#at, this.#at + bytes.length)));
    if (!word) throw this.unexpected('a value');
    this.#at += word.length;
  }
}
