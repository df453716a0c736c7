import type { Random } from './random.js';

const TOKEN = /"(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]|\s+/g;

const NUMBERS = [
  ...[
    '0',
    '-0',
    '1',
    '-1',
    '2',
    '3',
    '7',
    '8',
    '0.5',
    '1e0',
    '1E+2',
    '-1e-2',
    '01',
    '1.',
    '.5',
    '+1',
    '0x10',
  ],
  ...['255', '65535', '65536', '100000', '100001', '2147483647', '2147483648', '4294967296', '1099511627776'],
  ...[
    '9007199254740991',
    '9007199254740992',
    '18446744073709551615',
    '18446744073709551616',
    '1e300',
    '1e400',
  ],
  ...['NaN', 'Infinity', '-Infinity', '1'.repeat(400), '-'],
];
const TEXTS = [
  ...['""', '"a"', '"__proto__"', '"constructor"', '"toString"', '"length"', '"__metadata__"', '"\\u0061"'],
  ...[
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    '"😀"',
    '"\u202e"',
    '"\\u202e\\u001b[2J"',
    '"\u2028"',
    '"\u0000"',
    '"\n"',
  ],
  ...['"\\x"', '"\\u12"', '"', '"\\', `"${'n'.repeat(5000)}"`, `"${'\\n'.repeat(500)}"`, '"é"', "'a'"],
];
const VALUES = [
  'null',
  'true',
  'false',
  'nul',
  '{}',
  '[]',
  '[[]]',
  '{"a":1,"a":2}',
  '[1,]',
  '{,}',
  '[0,0]',
  '[8,4]',
];
const MARKS = ['{', '}', '[', ']', ',', ':', ' ', '\n', '\t', '\u00a0', '\ufeff', '/*c*/', '//c\n', ';'];
const DEPTHS = [1, 3, 127, 128, 129, 1000, 5000];

/** Changes a JSON text in one place, by its tokens; `own` are tokens that this kind of text knows. */
export function mutateText(text: string, own: readonly string[], random: Random): string {
  const tokens = text.match(TOKEN) ?? [text];
  const at = random.below(tokens.length);
  const end = at + 1 + random.below(random.one([1, 4, 24]));
  switch (random.below(9)) {
    case 0:
      return [...tokens.slice(0, at), ...tokens.slice(end)].join('');
    case 1: // Twice in a row; where it is an entry of an object with its comma, a key is there twice.
      return [...tokens.slice(0, end), ...tokens.slice(at)].join('');
    case 2: {
      const other = random.below(tokens.length);
      [tokens[at], tokens[other]] = [tokens[other]!, tokens[at]!];
      return tokens.join('');
    }
    case 3: // An entry of the text's own in another place.
      return [...tokens.slice(0, random.below(tokens.length)), ...tokens.slice(at)].join('');
    case 4:
      return text.slice(0, random.below(text.length + 1));
    case 5: {
      const depth = random.one(DEPTHS);
      const [open, close] = random.one([
        ['[', ']'],
        ['{"":', '}'],
        ['[', ''],
        ['{"a":[', ']}'],
      ] as const);
      tokens[at] = open.repeat(depth) + tokens[at] + close.repeat(depth);
      return tokens.join('');
    }
    case 6:
      tokens.splice(at, 0, anyToken(own, random));
      return tokens.join('');
    default:
      tokens[at] = likeToken(tokens[at]!, own, random);
      return tokens.join('');
  }
}

function anyToken(own: readonly string[], random: Random): string {
  return random.one(random.one([own, NUMBERS, TEXTS, VALUES, MARKS]));
}

/** Most often one of the same kind: what differs from the valid in one value gets furthest. */
function likeToken(token: string, own: readonly string[], random: Random): string {
  if (random.chance(4)) return anyToken(own, random);
  if (token.startsWith('"')) return random.one([...TEXTS, ...own]);
  return /^[-\d]/.test(token) ? nearNumber(token, random) : random.one([...VALUES, ...MARKS]);
}

function nearNumber(token: string, random: Random): string {
  if (random.chance(2)) return random.one(NUMBERS);
  return String(Number(token) + random.one([-8, -4, -2, -1, 1, 2, 4, 8]));
}

/** Changes bytes, whatever they are of. */
export function mutateBytes(bytes: Buffer, random: Random): Buffer {
  const changed = Buffer.from(bytes);
  for (let n = 1 + random.below(3); n > 0 && changed.length > 0; n--) {
    changed[random.below(changed.length)] = random.chance(2) ? random.below(256) : 1 << random.below(8);
  }
  return random.chance(4) ? changed.subarray(0, random.below(changed.length + 1)) : changed;
}
