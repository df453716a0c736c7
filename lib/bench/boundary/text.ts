import { digits } from '../../report/numbers.js';
import type { Table } from '../../report/shapes.js';
import { hostText } from '../host.js';
import { peersText } from '../peers.js';
import { countText, peakText, tableText } from '../text.js';
import type { BoundaryReport } from './run.js';

/** The rows, for people. */
export function boundaryTable({ rows }: BoundaryReport): Table {
  const withBusy = busyOf(rows) > 0;
  const busyHead = withBusy ? ['busy'] : [];
  const ratioHead = withBusy ? ['times quiet'] : [];
  return {
    head: [
      ...['path', 'ranks', 'elements', ...busyHead, 'median ms', ...ratioHead],
      ...['p10', 'p90', 'temporary', 'GB/s', 'value'],
    ],
    rows: rows.map((row) => [
      row.path,
      String(row.ranks),
      countText(row.elements),
      ...(withBusy ? [String(row.busy)] : []),
      row.medianMs.toFixed(3),
      ...(withBusy ? [row.timesQuiet === undefined ? '' : digits(row.timesQuiet)] : []),
      ...[row.p10Ms, row.p90Ms].map((ms) => ms.toFixed(3)),
      peakText(row.temporaryPeakBytes),
      digits(row.bandwidthGBs),
      String(row.value),
    ]),
  };
}

/** What the table's columns mean, a paragraph each. */
export function boundaryNotes({ rows, copyGBs, peers }: BoundaryReport): string[] {
  const busy = busyOf(rows);
  return [
    "Times are the slowest rank's, from a barrier to the awaited result.",
    ...(busy === 0
      ? []
      : [
          `Quiet turns and turns beside ${busyText(busy)} alternate. "times quiet" is a median over the quiet one above it.`,
        ]),
    "Temporary bytes are the ledger's peak; bf16-round-trip and fp32-staging stage in buffers of the caller, which are counted as they are.",
    'GB/s: gradients read, accumulators read and written, mirrored gradients written, over the time.',
    ...(copyGBs === null ? [] : [`This machine copies ${digits(copyGBs)} GB/s beyond its caches.`]),
    'The value is what 1 and 1.0078125 average to: 1.00390625 is right.',
    ...peersText(peers),
  ];
}

/** How many processes kept a core busy beside the ranks in every second turn. */
export function busyOf(rows: BoundaryReport['rows']): number {
  return Math.max(...rows.map(({ busy }) => busy));
}

/** Such as `2 busy processes`. */
export function busyText(busy: number): string {
  return `${busy} busy ${busy === 1 ? 'process' : 'processes'}`;
}

/** For people. */
export function boundaryText(report: BoundaryReport): string {
  return [hostText(report.host), '', tableText(boundaryTable(report)), '', ...boundaryNotes(report), ''].join(
    '\n',
  );
}
