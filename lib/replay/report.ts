import { escapeUnsafe, showName } from '../show.js';
import type { CaseOutcome, CaseReport } from './result.js';

/** The outcome of one replay, for people: one line, and one for each thing that is wrong. */
export function outcomeText({ report, failures }: CaseOutcome): string {
  const { errors, steps } = report;
  const facts = [
    `${report.ranks} ${report.ranks === 1 ? 'rank' : 'ranks'}`,
    `${report.path}, correction per ${report.correct}, ZeRO ${report.zeroStage}`,
    ...(steps.length > 0 ? [`norm ${steps.map(({ gradNorm }) => normText(gradNorm)).join(', ')}`] : []),
    ...(errors.gradNorm === null ? [] : [`errors ${errorsText(report)}`]),
    ...(report.seconds === null ? [] : [`${report.seconds.toFixed(2)} s`]),
  ];
  const head = `${report.passed ? 'ok    ' : 'FAILED'} ${showName(report.case)}: ${facts.join('; ')}`;
  return [head, ...failures.map((failure) => `       ${escapeUnsafe(failure)}`)].join('\n');
}

/** The last line of a run, for people. */
export function totalText(reports: readonly CaseReport[]): string {
  const passed = reports.filter((report) => report.passed).length;
  const replays = reports.length === 1 ? 'replay' : 'replays';
  return `${passed} of ${reports.length} ${replays} passed`;
}

function normText(norm: number | null): string {
  return norm === null ? 'not finite (skipped)' : norm.toPrecision(9);
}

function errorsText({ errors, worst }: CaseReport): string {
  const kinds = Object.entries(errors).map(([kind, error]) => `${kind} ${(error ?? 0).toExponential(1)}`);
  return kinds.join(', ') + (worst && worst.error > 0 ? ` (worst: ${showName(worst.tensor)})` : '');
}
