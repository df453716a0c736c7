import { expect } from 'chai';
import { averageOf, gradientOf } from '#lib/bench/boundary/lanes.js';
import { BenchmarkFailure } from '#lib/bench/failure.js';
import { checkPeriodic, checkValue, eighths, PERIOD, repeat } from '#lib/bench/pattern.js';
import { fromBFloat16, toBFloat16 } from '#lib/device/bfloat16.js';

describe('the data of benchmarks', () => {
  it('repeats to any length', () => {
    for (const length of [0, 1, PERIOD - 1, PERIOD, PERIOD + 1, 5 * PERIOD + 7]) {
      const target = new Float32Array(length);
      repeat(target, eighths(3));
      expect([...target]).to.deep.equal(Array.from({ length }, (_, i) => eighths(3)[i % PERIOD]));
    }
  });

  it('is exact in BF16, and averages to 1.00390625 at element 0 between ranks of even number', () => {
    for (const rank of [0, 1, 2, 3])
      expect([...fromBFloat16(toBFloat16(gradientOf(rank)))]).to.deep.equal([...gradientOf(rank)]);
    expect(averageOf(2)[0]).to.equal(1.00390625);
    expect(averageOf(4)[0]).to.equal(1.00390625);
  });

  it('is found wrong at any one element', () => {
    for (const wrong of [0, 60, 61, 199]) {
      const actual = new Float32Array(200);
      repeat(actual, eighths(0));
      checkPeriodic('it', actual, eighths(0), 0);
      actual[wrong]! += 0.125;
      expect(() => checkPeriodic('it', actual, eighths(0), 1e-6)).to.throw(
        BenchmarkFailure,
        `it: element ${wrong} is ${actual[wrong]}`,
      );
    }
  });

  it('does not pass NaN, nor the rounded average for the right one', () => {
    expect(() => checkValue('it', Number.NaN, 1, 0.5)).to.throw(BenchmarkFailure);
    expect(() => checkValue('it', 1, 1.00390625, 2 ** -22)).to.throw(BenchmarkFailure);
  });
});
