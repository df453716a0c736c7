import { digits } from '../../report/numbers.js';
import type { Table } from '../../report/shapes.js';
import { hostText } from '../host.js';
import { peersText } from '../peers.js';
import { countText, peakText, tableText } from '../text.js';
import { type StepReport, WHOLE_STEP } from './run.js';

/** The rows, for people. */
export function stepTable({ rows }: StepReport): Table {
  return {
    head: ['operation', 'elements', 'threads', 'median ms', 'p10', 'p90', 'GB/s', 'of copy', 'temporary'],
    rows: rows.map((row) => [
      row.operation,
      countText(row.elements),
      String(row.threads),
      ...[row.medianMs, row.p10Ms, row.p90Ms].map((ms) => ms.toFixed(3)),
      digits(row.bandwidthGBs),
      row.fractionOfCopy === null ? '' : row.fractionOfCopy.toFixed(2),
      peakText(row.temporaryPeakBytes),
    ]),
  };
}

/** What the table's columns mean, a paragraph each. */
export function stepNotes({ peers }: StepReport): string[] {
  return [
    "GB/s: bytes that the pass reads and writes, over its time; on other libraries' rows the bytes of our one pass.",
    '"of copy": against this machine\'s own copy of about as many bytes, on as many threads, in the same run. A copy pays for reading what it overwrites, which is not counted; a pass in place does not, and may be above 1.',
    `sgd and adamw clip, update, write BF16 and clear; step is the whole of step() on ${WHOLE_STEP.parameters} parameters.`,
    ...peersText(peers),
  ];
}

/** For people. */
export function stepText(report: StepReport): string {
  return [hostText(report.host), '', tableText(stepTable(report)), '', ...stepNotes(report), ''].join('\n');
}
