/** A value that some argument is not, with what to call it. A fresh one at every call, where it can be used up. */
export type WrongValue = readonly [what: string, make: () => unknown];

const circular: Record<string, unknown> = {};
circular['self'] = circular;

/** Values of every type of JavaScript and of its usual classes, and those that throw when one touches them. */
export const WRONG_VALUES: readonly WrongValue[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['true', () => true],
  ['NaN', () => Number.NaN],
  ['-0', () => -0],
  ['-1', () => -1],
  ['1.5', () => 1.5],
  ['2^53', () => 2 ** 53],
  ['Infinity', () => Number.POSITIVE_INFINITY],
  ['1n', () => 1n],
  ['-1n', () => -1n],
  ['x', () => 'x'],
  ['an empty text', () => ''],
  ['__proto__', () => '__proto__'],
  ['constructor', () => 'constructor'],
  ['a terminal escape', () => '\u001b[2J\u202e'],
  ['half a character', () => '\ud800'],
  ['a long text', () => 'x'.repeat(100_000)],
  ['a symbol', () => Symbol('s')],
  ['an empty array', () => []],
  ['an array of holes', () => new Array(3)],
  ['an endless array', () => new Array(2 ** 32 - 1)],
  ['an array of symbols', () => [Symbol('s')]],
  ['an empty object', () => ({})],
  ['an object without a prototype', () => Object.create(null)],
  ['an object with itself', () => circular],
  ['an object that is no primitive', () => ({ valueOf: refuse, toString: refuse, toJSON: refuse })],
  ['an object whose fields throw', () => throwing()],
  ['a proxy', () => new Proxy({}, {})],
  ['a revoked proxy', () => revoked({})],
  ['a revoked proxy of an array', () => revoked([])],
  ['a function', () => () => undefined],
  ['a class', () => class {}],
  ['a date', () => new Date(0)],
  ['an invalid date', () => new Date(Number.NaN)],
  ['a map', () => new Map([[1, 2]])],
  ['a set', () => new Set(['x'])],
  ['an error', () => new TypeError('not of foldstep')],
  ['a promise', () => Promise.resolve(1)],
  ['an iterable that throws', () => ({ [Symbol.iterator]: refuse })],
  ['an Int8Array', () => Int8Array.of(1)],
  ['a Float32Array', () => Float32Array.of(1, 2)],
  ['a Float64Array', () => Float64Array.of(1, 2)],
  ['a BigInt64Array', () => BigInt64Array.of(1n)],
  ['a detached array', () => detached()],
  ['an array over shared memory', () => new Uint16Array(new SharedArrayBuffer(4))],
  ['an array that lies about its length', () => Object.defineProperty(Float32Array.of(1), 'length', LIE)],
  ['a DataView', () => new DataView(new ArrayBuffer(8))],
  ['an ArrayBuffer', () => new ArrayBuffer(8)],
];

const LIE = { value: 2 ** 40 };

function refuse(): never {
  throw new Error('the value was asked');
}

function throwing(): object {
  return Object.defineProperty({ length: 1 }, 'lr', { get: refuse, enumerable: true });
}

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function detached(): Float32Array {
  const array = Float32Array.of(1, 2);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}
