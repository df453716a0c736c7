import { digits } from '../../report/numbers.js';
import type { Table } from '../../report/shapes.js';
import { hostText } from '../host.js';
import { peersText } from '../peers.js';
import { countText, peakText, tableText } from '../text.js';
import type { BoundaryReport } from './run.js';

/** The rows, for people. */
export function boundaryTable({ rows }: BoundaryReport): Table {
  return {
    head: ['path', 'ranks', 'elements', 'median ms', 'p10', 'p90', 'temporary', 'GB/s', 'value'],
    rows: rows.map((row) => [
      row.path,
      String(row.ranks),
      countText(row.elements),
      ...[row.medianMs, row.p10Ms, row.p90Ms].map((ms) => ms.toFixed(3)),
      peakText(row.temporaryPeakBytes),
      digits(row.bandwidthGBs),
      String(row.value),
    ]),
  };
}

/** What the table's columns mean, a paragraph each. */
export function boundaryNotes({ copyGBs, peers }: BoundaryReport): string[] {
  return [
    "Times are the slowest rank's, from a barrier to the awaited result.",
    "Temporary bytes are the ledger's peak; bf16-round-trip and fp32-staging stage in buffers of the caller, which are counted as they are.",
    'GB/s: gradients read, accumulators read and written, mirrored gradients written, over the time.',
    ...(copyGBs === null ? [] : [`This machine copies ${digits(copyGBs)} GB/s beyond its caches.`]),
    'The value is what 1 and 1.0078125 average to: 1.00390625 is right.',
    ...peersText(peers),
  ];
}

/** For people. */
export function boundaryText(report: BoundaryReport): string {
  return [hostText(report.host), '', tableText(boundaryTable(report)), '', ...boundaryNotes(report), ''].join(
    '\n',
  );
}
