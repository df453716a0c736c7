import { lineChart } from '../../report/line-chart.js';
import { bytesText, shortDigits } from '../../report/numbers.js';
import { pageHTML } from '../../report/page.js';
import { hostText } from '../host.js';
import type { StepReport } from '../step/run.js';
import { stepNotes, stepTable } from '../step/text.js';
import { pointsOf } from './points.js';

/** The passes of an optimizer step as one self-contained page. */
export function stepPage(report: StepReport): string {
  const rows = report.rows.filter(({ operation }) => operation !== 'step');
  const series = [...new Set(rows.map(({ operation }) => operation))];
  const points = (y: (row: (typeof rows)[number]) => number | null) =>
    pointsOf(rows, (row) => row.operation, y);
  const x = 'elements →';
  return pageHTML({
    title: 'The passes of an optimizer step',
    lead: `Norm, clipping, SGD and AdamW against this machine's own copies. ${hostText(report.host)}.`,
    series,
    sections: [
      {
        heading: 'Time',
        chart: lineChart(
          {
            x,
            y: '↑ median, ms',
            scale: 'log',
            format: shortDigits,
            points: points((row) => row.medianMs),
          },
          series,
        ),
        caption: 'Lower is better. Both axes are logarithmic.',
      },
      {
        heading: 'Temporary memory',
        chart: lineChart(
          {
            x,
            y: '↑ peak, bytes',
            scale: 'zeroAndLog',
            format: bytesText,
            points: points((row) => row.temporaryPeakBytes),
          },
          series,
        ),
        caption: 'Lower is better. Libraries that do not tell are left out.',
      },
      {
        heading: 'Bandwidth',
        chart: lineChart(
          {
            x,
            y: '↑ of the machine’s copy of as many bytes',
            scale: 'linear',
            format: shortDigits,
            points: points((row) => row.fractionOfCopy),
            limit: { y: 1, label: 'what this machine copies' },
          },
          series,
        ),
        caption: 'Higher is better. GB/s are in the table.',
      },
    ],
    table: stepTable(report),
    notes: stepNotes(report),
  });
}
