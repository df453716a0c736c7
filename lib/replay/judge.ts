import type { StepResult } from '../optimizer/folded-optimizer.js';
import { showName } from '../show.js';
import type { CaseContent } from './case-schema.js';
import { relativeError } from './compare.js';
import type { ErrorKind, StepReport } from './result.js';
import type { TensorError } from './tensor-checks.js';

type Expected = CaseContent['expected'];

/** The report of a step, and what is wrong with it, a sentence each. `step` counts from 1. */
export function judgeStep(
  step: number,
  result: StepResult,
  { steps, tolerance }: Expected,
): { report: StepReport; failures: string[] } {
  const expected = steps[step - 1]!;
  const failures: string[] = [];
  if (result.skipped !== expected.skipped) {
    const culprit = result.nonFinite
      ? ` (${showName(result.nonFinite.parameter)} is not finite on rank ${result.nonFinite.rank})`
      : '';
    failures.push(
      `step ${step} was ${result.skipped ? `skipped${culprit}` : 'taken'}; it should have been ${expected.skipped ? 'skipped' : 'taken'}`,
    );
  }
  let error: number | null = null;
  if (!result.skipped && !expected.skipped) {
    error = relativeError(result.gradNorm, expected.gradNorm);
    if (!(error <= tolerance.gradNorm)) {
      failures.push(
        tooFar(`the norm of step ${step}`, result.gradNorm, expected.gradNorm, error, tolerance.gradNorm),
      );
    }
    // maxNorm / (norm + 1e-6) is off by the same fraction as the norm, so the norm's tolerance is its own.
    const clipError = relativeError(result.clipCoefficient, expected.clipCoefficient);
    if (!(clipError <= tolerance.gradNorm)) {
      const { clipCoefficient } = expected;
      failures.push(
        tooFar(
          `the clip coefficient of step ${step}`,
          result.clipCoefficient,
          clipCoefficient,
          clipError,
          tolerance.gradNorm,
        ),
      );
    }
  }
  return {
    report: {
      gradNorm: result.skipped ? null : result.gradNorm,
      expectedGradNorm: expected.gradNorm,
      relativeError: error,
      clipCoefficient: result.skipped ? null : result.clipCoefficient,
      skipped: result.skipped,
    },
    failures,
  };
}

/** What is wrong with the tensors, a sentence each. */
export function judgeTensors(tensors: readonly TensorError[], { tolerance }: Expected): string[] {
  return tensors.flatMap(({ kind, tensor, error, missing }) => {
    const failures: string[] = [];
    if (!(error <= tolerance[kind])) {
      failures.push(
        `${showName(tensor)} is off by ${error.toExponential(2)}; the tolerance is ${tolerance[kind]}`,
      );
    }
    if (missing > 0) failures.push(`${missing} elements of ${showName(tensor)} were held by no rank`);
    return failures;
  });
}

/** The largest error of each kind, and the tensor that has the largest of all. */
export function summarize(
  steps: readonly StepReport[],
  tensors: readonly TensorError[],
): { errors: Record<ErrorKind, number>; worst: { tensor: string; error: number } | null } {
  const errors = { gradNorm: 0, accumulated: 0, master: 0, state: 0 };
  for (const { relativeError: error } of steps) errors.gradNorm = Math.max(errors.gradNorm, error ?? 0);
  let worst: { tensor: string; error: number } | null = null;
  for (const { kind, tensor, error } of tensors) {
    errors[kind] = Math.max(errors[kind], error);
    if (!worst || error > worst.error) worst = { tensor, error };
  }
  return { errors, worst };
}

function tooFar(what: string, got: number, want: number, error: number, tolerance: number): string {
  return `${what} is ${got}; ${want} was expected, so it is off by ${error.toExponential(2)}, and the tolerance is ${tolerance}`;
}
