/** A benchmark that came to no result: a value was wrong, or its ranks did not end well. Nothing was timed that counts. */
export class BenchmarkFailure extends Error {
  override readonly name = 'BenchmarkFailure';
}
