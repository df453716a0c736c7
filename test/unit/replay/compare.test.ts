import { expect } from 'chai';
import { largestDifference, largestMagnitude, relativeError, relativeTo } from '#lib/replay/compare.js';

describe('comparing numbers', () => {
  it('takes the largest difference over the largest magnitude', () => {
    const want = Float32Array.of(1, -8, 4);
    expect(largestDifference(Float32Array.of(1.5, -8, 4.25), want)).to.equal(0.5);
    expect(largestMagnitude(want)).to.equal(8);
    expect(relativeTo(0.5, 8)).to.equal(0.0625);
  });

  it('is absolute where nothing but zero is wanted', () => {
    expect(relativeTo(0.5, 0)).to.equal(0.5);
    expect(relativeError(0, 0)).to.equal(0);
    expect(relativeError(0.25, 0)).to.equal(0.25);
  });

  it('is no smaller for a NaN, an infinity or a value that is not there than for anything else', () => {
    for (const got of [[Number.NaN], [Number.POSITIVE_INFINITY], []]) {
      expect(largestDifference(got, [1])).to.equal(Number.MAX_VALUE);
    }
    for (const got of [Number.NaN, Number.NEGATIVE_INFINITY]) {
      expect(relativeError(got, 2e30)).to.equal(Number.MAX_VALUE);
    }
    expect(relativeTo(1e308, 1e-30)).to.equal(Number.MAX_VALUE);
  });

  it('is without bound where what is wanted is not finite, whatever there is', () => {
    for (const want of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      for (const got of [0, want]) expect(relativeError(got, want)).to.equal(Number.MAX_VALUE);
      // The rank that compares holds another part of the tensor.
      expect(relativeTo(0.5, largestMagnitude([1, want]))).to.equal(Number.MAX_VALUE);
    }
  });

  it('is 0 for tensors without elements', () => {
    expect(largestDifference([], [])).to.equal(0);
    expect(largestMagnitude([])).to.equal(0);
  });
});
