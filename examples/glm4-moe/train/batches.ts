import { FoldstepError } from 'foldstep';
import type { Batch } from './model.ts';
import { uniform } from './random.ts';

/** One step's sequences, and how they are shared out. */
export interface BatchSizes {
  /** Of all data ranks and micro-batches together. */
  readonly sequences: number;
  /** Tokens of a sequence: each is predicted from those before it, so 2 at least. */
  readonly length: number;
  /** Ranks that see different sequences, and which of them this is. */
  readonly dataRanks: number;
  readonly dataRank: number;
  readonly microbatches: number;
}

/** This rank's sequences of a micro-batch; steps count from 1, micro-batches from 0. */
export type BatchSource = (step: number, microbatch: number) => Batch;

/**
 * Sequences from anywhere in a text. Sequence j of a step depends on `seed`, the step and j alone: the global batch is the
 * same however many data ranks and micro-batches share it. Throws INVALID_ARGUMENT for sizes that do not divide, naming
 * those that do, and for a text shorter than a sequence.
 */
export function textBatches(text: Uint8Array, sizes: BatchSizes, seed: number): BatchSource {
  checkSizes(text, sizes);
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new FoldstepError('INVALID_ARGUMENT', `the seed must be a whole number from 0; it is ${seed}`);
  }
  const starts = text.length - sizes.length + 1;
  return (step, microbatch) =>
    cut(text, sizes, microbatch, (j) => Math.floor(starts * uniform(seed, 'batches', step, j)));
}

/**
 * This rank's batches for an evaluation: sequences at equal distances over the whole text, one batch a micro-batch. Throws
 * as `textBatches` does.
 */
export function evaluationBatches(text: Uint8Array, sizes: BatchSizes): Batch[] {
  checkSizes(text, sizes);
  const last = text.length - sizes.length;
  const start = (j: number): number => Math.floor((j * last) / Math.max(1, sizes.sequences - 1));
  return Array.from({ length: sizes.microbatches }, (_, microbatch) => cut(text, sizes, microbatch, start));
}

function cut(text: Uint8Array, sizes: BatchSizes, microbatch: number, start: (j: number) => number): Batch {
  const { length, dataRank, dataRanks, microbatches } = sizes;
  const sequences = sizes.sequences / (dataRanks * microbatches);
  // A data rank has one run of sequences, whatever the number of micro-batches.
  const first = (dataRank * microbatches + microbatch) * sequences;
  const ids = new Int32Array(sequences * length);
  for (let i = 0; i < sequences; i++) {
    const at = start(first + i);
    ids.set(text.subarray(at, at + length), i * length);
  }
  return { ids, sequences, length };
}

function checkSizes(text: Uint8Array, { sequences, length, dataRanks, dataRank, microbatches }: BatchSizes) {
  checkWhole('sequences', sequences, 1);
  checkWhole('length', length, 2);
  checkWhole('dataRanks', dataRanks, 1);
  checkWhole('dataRank', dataRank, 0);
  checkWhole('microbatches', microbatches, 1);
  if (dataRank >= dataRanks) {
    throw new FoldstepError('INVALID_ARGUMENT', `there is no data rank ${dataRank} among ${dataRanks}`);
  }
  const parts = dataRanks * microbatches;
  if (sequences % parts !== 0) {
    const below = sequences - (sequences % parts);
    const fitting = [below, below + parts].filter((size) => size > 0).join(' or ');
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `a batch of ${sequences} sequences does not divide among ${dataRanks} data ranks x ${microbatches} micro-batches; take ${fitting}`,
    );
  }
  if (text.length < length) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `a text of ${text.length} bytes has no sequence of ${length}; take a longer text, or a length of at most ${text.length}`,
    );
  }
}

function checkWhole(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new FoldstepError('INVALID_ARGUMENT', `${name} must be a whole number from ${least}; it is ${value}`);
}
