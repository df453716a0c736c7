import { lineChart } from '../../report/line-chart.js';
import { bytesText, digits, shortDigits } from '../../report/numbers.js';
import { pageHTML } from '../../report/page.js';
import type { BoundaryRow } from '../boundary/result.js';
import type { BoundaryReport } from '../boundary/run.js';
import { boundaryNotes, boundaryTable, busyOf, busyText } from '../boundary/text.js';
import { hostText } from '../host.js';
import { pointsOf } from './points.js';

/** The boundary as one self-contained page. */
export function boundaryPage(report: BoundaryReport): string {
  const { rows, copyGBs, host } = report;
  const series = [...new Set(rows.map(({ path }) => path))];
  const quiet = rows.filter(({ busy }) => busy === 0);
  const beside = rows.filter(({ busy }) => busy > 0);
  const points = (y: (row: BoundaryRow) => number | null, of = quiet) => pointsOf(of, (row) => row.path, y);
  const x = 'gradient elements →';
  const timeChart = (of: BoundaryRow[]): string =>
    lineChart(
      {
        x,
        y: '↑ median, ms',
        scale: 'log',
        format: shortDigits,
        points: points((row) => row.medianMs, of),
      },
      series,
    );
  return pageHTML({
    title: `The boundary between ${rows[0]!.ranks} ranks`,
    lead: `BF16 gradients, corrected over the lanes and added to FP32 accumulators. ${hostText(host)}.`,
    series,
    sections: [
      {
        heading: 'Time',
        chart: timeChart(quiet),
        caption: 'Lower is better. Both axes are logarithmic.',
      },
      ...(beside.length === 0
        ? []
        : [
            {
              heading: `Time beside ${busyText(busyOf(rows))}`,
              chart: timeChart(beside),
              caption: 'Lower is better. The other charts are of the quiet turns.',
            },
          ]),
      {
        heading: 'Temporary memory',
        chart: lineChart(
          {
            x,
            y: '↑ peak, bytes a rank',
            scale: 'zeroAndLog',
            format: bytesText,
            points: points((row) => row.temporaryPeakBytes),
          },
          series,
        ),
        caption: 'Lower is better; marks at 0 lie on each other. Libraries that do not tell are left out.',
      },
      {
        heading: 'Bandwidth',
        chart: lineChart(
          {
            x,
            y: '↑ GB/s, all ranks',
            scale: 'linear',
            format: shortDigits,
            points: points((row) => row.bandwidthGBs),
            ...(copyGBs === null
              ? {}
              : { limit: { y: copyGBs, label: `copying beyond caches: ${digits(copyGBs)}` } }),
          },
          series,
        ),
        caption: "Higher is better. Above the line the data come out of the processor's caches.",
      },
    ],
    table: boundaryTable(report),
    notes: boundaryNotes(report),
  });
}
