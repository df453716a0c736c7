import type { Segment } from '../autodiff/segment.ts';
import type { Value } from '../autodiff/tape.ts';
import { type Tensor, tensor } from '../autodiff/tensor.ts';
import type { Pass } from './pass.ts';

/** Fewest rows that an expert is computed with. */
const FEWEST_ROWS = 8;

/**
 * Every local expert on its rows; `rows` are [rows, H], by expert. Experts are filled up with rows of zeros to few different
 * sizes, since each is compiled once; one without rows is left out, and has zero gradients.
 */
export function applyExperts(
  pass: Pass,
  segment: Segment,
  names: readonly [gateUp: string, down: string],
  rows: Value,
  rowsPerExpert: readonly number[],
): Value {
  const width = rows.shape[1]!;
  const experts = runsOf(rowsPerExpert);
  const weights = (e: number) => names.map((name) => pass.weights.expert(name, e));
  const result = new Float32Array(rows.data.length);
  for (const { expert, start, end } of experts) {
    const [output] = segment.forward(weights(expert), [padded(rows.data, start, end, width)], []);
    result.set(output!.data.subarray(0, (end - start) * width), start * width);
  }
  return pass.one([rows], tensor(rows.shape, result), async ([gradient]) => {
    const ofRows = new Float32Array(rows.data.length);
    const ofWeights = names.map(() => new Map<number, Float32Array>());
    for (const { expert, start, end } of experts) {
      const inputs = [padded(rows.data, start, end, width)];
      const found = segment.backward(
        weights(expert),
        inputs,
        [],
        [padded(gradient!.data, start, end, width)],
      );
      ofRows.set(found.inputs[0]!.subarray(0, (end - start) * width), start * width);
      for (const [i, part] of found.weights.entries()) ofWeights[i]!.set(expert, part);
    }
    const whole = names.map((name, i) =>
      joined(ofWeights[i]!, rowsPerExpert.length, pass.weights.expert(name, 0).size),
    );
    await pass.give(names, whole);
    return [ofRows];
  });
}

/** Experts that have rows, and where these lie. */
function runsOf(rowsPerExpert: readonly number[]): { expert: number; start: number; end: number }[] {
  let end = 0;
  return rowsPerExpert
    .map((count, expert) => {
      const start = end;
      end += count;
      return { expert, start, end };
    })
    .filter(({ start, end }) => end > start);
}

function padded(data: Float32Array, start: number, end: number, width: number): Tensor {
  const filled = new Float32Array(capacityOf(end - start) * width);
  filled.set(data.subarray(start * width, end * width));
  return tensor([filled.length / width, width], filled);
}

/** The next power of two. */
function capacityOf(rows: number): number {
  return Math.max(FEWEST_ROWS, 2 ** Math.ceil(Math.log2(rows)));
}

function joined(parts: ReadonlyMap<number, Float32Array>, experts: number, size: number): Float32Array {
  const whole = new Float32Array(experts * size);
  for (const [expert, part] of parts) whole.set(part, expert * size);
  return whole;
}
