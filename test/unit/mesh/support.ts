import fc from 'fast-check';
import { FoldstepError } from '#lib/errors.js';
import type { MeshSizes } from '#lib/mesh/mesh.js';

/** Divisors of `n`, ascending. */
export function divisors(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i + 1).filter((d) => n % d === 0);
}

/** Sizes that fit: every axis divides what the axes before it leave. Stages of 1 to `largestStage` ranks. */
export function meshSizes(largestStage = 24): fc.Arbitrary<MeshSizes> {
  return fc
    .record({ stage: fc.integer({ min: 1, max: largestStage }), pp: fc.integer({ min: 1, max: 3 }) })
    .chain(({ stage, pp }) => {
      const divisor = fc.constantFrom(...divisors(stage));
      const pair = divisor.chain((etp) =>
        fc.record({ etp: fc.constant(etp), ep: fc.constantFrom(...divisors(stage / etp)) }),
      );
      return fc
        .record({ tp: divisor, expert: pair, native: fc.option(pair, { nil: {} }) })
        .map(({ tp, expert, native }) => ({ world: stage * pp, pp, tp, ...expert, native }));
    });
}

/** The FoldstepError an action throws; any other outcome fails the test. */
export function refusal(action: () => unknown): FoldstepError {
  try {
    action();
  } catch (error) {
    if (error instanceof FoldstepError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
