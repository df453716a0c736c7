import { expect } from 'chai';
import fc from 'fast-check';
import { Segment, toJax } from '../../examples/glm4-moe/autodiff/segment.js';
import { Tape, type Value } from '../../examples/glm4-moe/autodiff/tape.js';
import { tensor } from '../../examples/glm4-moe/autodiff/tensor.js';

const scalar = (value: number) => tensor([1], Float32Array.of(value));

describe('a tape', () => {
  /** Values of one element each. */
  class Scalars {
    readonly tape: Tape;
    readonly passed: string[] = [];

    constructor(recording = true) {
      this.tape = new Tape(recording);
    }

    variable(value: number): Value {
      return this.tape.record([], [scalar(value)], () => {
        this.passed.push(`variable ${value}`);
        return [];
      })[0]!;
    }

    multiply(a: Value, b: Value): Value {
      const [x, y] = [a.data[0]!, b.data[0]!];
      return this.tape.record([a, b], [scalar(x * y)], ([gradient]) => {
        this.passed.push(`${x} * ${y}`);
        const g = gradient!.data[0]!;
        return [Float32Array.of(g * y), Float32Array.of(g * x)];
      })[0]!;
    }

    /** One operation of two results. */
    doubleAndTriple(a: Value): Value[] {
      return this.tape.record([a], [scalar(2 * a.data[0]!), scalar(3 * a.data[0]!)], ([two, three]) => [
        Float32Array.of(2 * two!.data[0]! + 3 * three!.data[0]!),
      ]);
    }
  }

  it('adds up the gradients of a value that is used twice', async () => {
    const s = new Scalars();
    const x = s.variable(3);
    await s.tape.backward(s.multiply(s.multiply(x, x), x), 1);
    // d x^3 = 3 x^2.
    expect(x.gradient.data[0]).to.equal(27);
  });

  it('gives a value that is not used a gradient of zero, and goes through it all the same', async () => {
    const s = new Scalars();
    const [x, unused] = [s.variable(3), s.variable(5)];
    s.multiply(unused, x);
    const [, triple] = s.doubleAndTriple(x);
    await s.tape.backward(triple!, 1);
    expect([x.gradient.data[0], unused.gradient.data[0]]).to.deep.equal([3, 0]);
    expect(s.passed).to.deep.equal(['5 * 3', 'variable 5', 'variable 3']);
  });

  it('goes through operations in reverse, each when the one before it has ended', async () => {
    const tape = new Tape(true);
    const events: string[] = [];
    const operation = (name: string, inputs: Value[]) =>
      tape.record(inputs, [scalar(1)], async ([gradient]) => {
        events.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        events.push(`${name} ends`);
        return inputs.map(() => gradient!.data);
      })[0]!;
    await tape.backward(operation('second', [operation('first', [])]), 1);
    expect(events).to.deep.equal(['second begins', 'second ends', 'first begins', 'first ends']);
  });

  it('begins with the scale', async () => {
    const s = new Scalars();
    const x = s.variable(3);
    await s.tape.backward(s.multiply(x, s.variable(2)), 0.5);
    expect(x.gradient.data[0]).to.equal(1);
  });

  it('keeps nothing when it does not record', async () => {
    const s = new Scalars(false);
    await s.tape.backward(s.multiply(s.variable(3), s.variable(2)), 1);
    expect(s.passed).to.deep.equal([]);
  });

  it('does not write gradients that another value may have too', async () => {
    const tape = new Tape(true);
    const [a, b] = [1, 2].map((value) => tape.record([], [scalar(value)], () => [])[0]!);
    const [sum] = tape.record([a!, b!], [scalar(3)], ([gradient]) => [gradient!.data, gradient!.data]);
    const [again] = tape.record([sum!, a!], [scalar(4)], ([gradient]) => [gradient!.data, gradient!.data]);
    await tape.backward(again!, 1);
    expect([a!.gradient.data[0], b!.gradient.data[0]]).to.deep.equal([2, 1]);
  });
});

describe('a segment', () => {
  /** Row sums of (x + shift) times weight, all of one shape: y_i = sum_j (x_ij + s_ij) w_j. */
  function weighted(onTrace: () => void = () => {}): Segment {
    return new Segment(([weight], [x], [shift]) => {
      onTrace();
      return [x!.add(shift!).mul(weight!).sum(-1)];
    });
  }
  const x = tensor([2, 3], Float32Array.of(1, 2, 3, 4, 5, 6));
  const shift = tensor([2, 3], Float32Array.of(1, 1, 1, 0, 0, 0));
  const weight = () => toJax(tensor([3], Float32Array.of(1, 10, 100)));

  it('gives values, and gradients of weights and inputs but not of constants', () => {
    const w = weight();
    const segment = weighted();
    const [y] = segment.forward([w], [x], [shift]);
    expect([y!.shape, [...y!.data]]).to.deep.equal([[2], [432, 654]]);
    const { weights, inputs } = segment.backward([w], [x], [shift], [tensor([2], Float32Array.of(1, 2))]);
    // Over rows, of gradient times x + s: 2 + 2 * 4, 3 + 2 * 5, 4 + 2 * 6.
    expect(weights.map((found) => [...found])).to.deep.equal([[10, 13, 16]]);
    expect(inputs.map((found) => [...found])).to.deep.equal([[1, 10, 100, 2, 20, 200]]);
    w.dispose();
  });

  it('is linear in the gradients that it is given', () => {
    const w = weight();
    const segment = weighted();
    const number = fc.integer({ min: -100, max: 100 });
    fc.assert(
      fc.property(fc.tuple(number, number), fc.tuple(number, number), (a, b) => {
        const ofWeight = (g: readonly number[]) =>
          segment.backward([w], [x], [shift], [tensor([2], Float32Array.from(g))]).weights[0]!;
        const [ofA, ofB] = [ofWeight(a), ofWeight(b)];
        const together = ofWeight([a[0] + b[0], a[1] + b[1]]);
        // Whole numbers below 2^24: exact.
        expect([...together]).to.deep.equal([...ofA].map((value, i) => value + ofB[i]!));
      }),
      { numRuns: 20 },
    );
    w.dispose();
  });

  it('is compiled once for each combination of shapes, forward and backward', () => {
    let traces = 0;
    const segment = weighted(() => traces++);
    const w = weight();
    const pass = (rows: number) => {
      const input = tensor([rows, 3], new Float32Array(rows * 3));
      segment.forward([w], [input], [input]);
      segment.backward([w], [input], [input], [tensor([rows], new Float32Array(rows))]);
    };
    pass(2);
    const [first] = [traces];
    pass(2);
    expect(traces, 'the same shapes again').to.equal(first);
    pass(5);
    expect(traces, 'other shapes').to.equal(2 * first!);
    pass(2);
    pass(5);
    expect(traces, 'shapes that it has seen').to.equal(2 * first!);
    w.dispose();
  });

  it('leaves its weights for the next call, and holds no memory between calls', () => {
    const [rows, width] = [256, 1024];
    const segment = weighted();
    const w = toJax(tensor([width], new Float32Array(width).fill(1)));
    const large = tensor([rows, width], new Float32Array(rows * width).fill(1));
    const column = tensor([rows], new Float32Array(rows).fill(1));
    const pass = () => {
      segment.forward([w], [large], [large]);
      segment.backward([w], [large], [large], [column]);
    };
    for (let i = 0; i < 20; i++) pass();
    const before = process.memoryUsage.rss();
    for (let i = 0; i < 300; i++) pass();
    // A pass makes five arrays of 1 MiB: one of them held would be 300 MiB.
    expect((process.memoryUsage.rss() - before) / 2 ** 20).to.be.below(100);
    w.dispose();
  });
});
