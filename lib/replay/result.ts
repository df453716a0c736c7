import type { DeviceKind } from '../device/device.js';
import type { Setting } from './setting.js';

/** The norm and clipping of one step; null for a step that was, or should have been, skipped. */
export interface StepReport {
  gradNorm: number | null;
  expectedGradNorm: number | null;
  /** Absolute where the expected norm is 0. */
  relativeError: number | null;
  clipCoefficient: number | null;
  skipped: boolean;
}

/** The kinds of figure a case has a tolerance for. */
export type ErrorKind = 'gradNorm' | 'accumulated' | 'master' | 'state';

/** What a replay of one case under one setting came to. Figures are null where the job did not get that far. */
export interface CaseReport {
  case: string;
  ranks: number;
  backend: DeviceKind;
  /** The path taken: `auto` is told by what it chose. */
  path: string;
  correct: string;
  zeroStage: number;
  passed: boolean;
  steps: StepReport[];
  /** Largest of its kind over all steps, tensors and ranks. */
  errors: Record<ErrorKind, number | null>;
  /** The tensor with the largest error. */
  worst: { tensor: string; error: number } | null;
  /** Norm, coefficient and every copy of a weight have the same bits on every rank, after every step. */
  ranksAgree: boolean;
  /** Largest over the ranks, as the ledger of temporaries measured it. */
  temporaryPeakBytes: number | null;
  /** From creating the optimizer to the last comparison, in rank 0. */
  seconds: number | null;
}

/** A report with what was wrong, a sentence each; empty if and only if it passed. */
export interface CaseOutcome {
  readonly report: CaseReport;
  readonly failures: readonly string[];
}

/** The outcome of a replay whose job ended before it was done. */
export function brokenOutcome(
  name: string,
  ranks: number,
  device: DeviceKind,
  setting: Setting,
  failure: string,
): CaseOutcome {
  return {
    report: {
      case: name,
      ranks,
      backend: device,
      ...setting,
      passed: false,
      steps: [],
      errors: { gradNorm: null, accumulated: null, master: null, state: null },
      worst: null,
      ranksAgree: false,
      temporaryPeakBytes: null,
      seconds: null,
    },
    failures: [failure],
  };
}
