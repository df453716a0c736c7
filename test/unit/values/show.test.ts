import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { show, showName } from '#lib/show.js';

const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

// 100 characters, two quotes, an ellipsis, and the length.
const LONGEST = 130;

const circular: Record<string, unknown> = {};
circular['self'] = circular;

const revoked = Proxy.revocable({}, {});
revoked.revoke();

const trapped = new Proxy(
  {},
  new Proxy(
    {},
    {
      get() {
        throw new Error('a trap was called');
      },
    },
  ),
);

class Named {
  readonly field = 1;
}

describe('show', () => {
  const shown: readonly (readonly [string, unknown, string])[] = [
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['NaN', Number.NaN, 'NaN'],
    ['a negative zero', -0, '-0'],
    ['a BigInt', 12n, '12n'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['text', 'it', "'it'"],
    ['text with quotes and backslashes', "it's \\", "'it\\'s \\\\'"],
    ['an object', { a: 1, b: { c: 2 } }, '{ a: 1, b: [Object] }'],
    ['an object of another realm', runInNewContext('({ a: 1 })'), '{ a: 1 }'],
    ['an object without a prototype', Object.create(null), '[Object: null prototype] {}'],
    ['an object with itself', circular, '<ref *1> { self: [Circular *1] }'],
    ['an array', [1, 'x', [2]], "[ 1, 'x', [Array] ]"],
    ['a long array', Array(1000).fill(7), '[ 7, 7, 7, 7, 7, 7, ... 994 more items ]'],
    ['a typed array', Float32Array.of(1, 2), 'Float32Array(2) [ 1, 2 ]'],
    ['a function', function train() {}, '[Function: train]'],
    ['a class', Named, '[class Named]'],
    ['an object of a class', new Named(), '[Named]'],
    ['an error', new TypeError('of its own'), 'TypeError: of its own'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an invalid date', new Date(Number.NaN), 'Invalid Date'],
    ['a revoked proxy', revoked.proxy, 'a Proxy'],
    ['a proxy whose traps throw', trapped, 'a Proxy'],
    ['a number of many digits', 10n ** 1000n, 'a BigInt of more than 60 digits'],
  ];
  for (const [what, value, text] of shown) {
    it(`shows ${what}`, () => expect(show(value)).to.equal(text));
  }

  it('calls no getter and no method of the value', () => {
    const refuse = () => expect.fail('the value was asked');
    const value = { toString: refuse, toJSON: refuse, [Symbol.toPrimitive]: refuse };
    Object.defineProperty(value, 'field', { get: refuse, enumerable: true });
    expect(show(value)).to.contain('field: [Getter]');
  });

  it('says of what type a value is that throws where it is looked at', () => {
    class Tagged {
      get [Symbol.toStringTag](): string {
        throw new Error('no tag');
      }
    }
    expect(show(new Tagged())).to.equal('a value of type object that cannot be shown');
  });

  it('cuts long text and tells its length', () => {
    expect(show('x'.repeat(1_000_000))).to.equal(`'${'x'.repeat(100)}…' (1000000 characters)`);
    expect(show('\u001b'.repeat(60))).to.have.length.below(LONGEST);
    expect(show(Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [i, i])))).to.equal('[Object]');
  });

  it('never cuts a character in half', () => {
    expect(show(`${'x'.repeat(99)}😀 and more`)).to.equal(`'${'x'.repeat(99)}…' (110 characters)`);
  });

  it('escapes what a terminal obeys and what nobody sees', () => {
    expect(show('\u001b[31m\n\u007f\u009b')).to.equal("'\\u{001b}[31m\\n\\u{007f}\\u{009b}'");
    expect(show('\u202e\u2066\u2028')).to.equal("'\\u{202e}\\u{2066}\\u{2028}'");
    expect(show('\ud800')).to.equal("'\\u{d800}'");
    for (const value of [Symbol('\u001b[2J'), { '\u001b\u202e': 1 }, new Error('\u001b[2J')]) {
      expect(show(value)).not.to.match(UNSAFE);
    }
  });

  it('shows anything on one bounded line of printable characters', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnicodeString: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        const text = show(value);
        expect(text).not.to.match(UNSAFE);
        expect(text).to.have.length.within(1, LONGEST);
      }),
    );
  });
});

describe('showName', () => {
  it('gives a name that reads as one word as it is', () => {
    for (const name of ['experts.w1', 'layers/0/attn-q', 'größe', 'a[3]', '/tmp/model-00001.safetensors']) {
      expect(showName(name)).to.equal(name);
    }
  });

  it('puts other names in quotes and escapes them', () => {
    expect(showName('')).to.equal("''");
    expect(showName('two words')).to.equal("'two words'");
    expect(showName('\u001b[31mred')).to.equal("'\\u{001b}[31mred'");
  });

  it('keeps 400 characters of a long name', () => {
    expect(showName('x'.repeat(400))).to.equal('x'.repeat(400));
    expect(showName('x'.repeat(401))).to.equal(`'${'x'.repeat(400)}…' (401 characters)`);
  });

  it('shows what is no text as show does', () => {
    expect(showName(Symbol('s'))).to.equal('Symbol(s)');
    expect(showName(null)).to.equal('null');
  });
});
