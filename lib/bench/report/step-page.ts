import { hostText } from '../host.js';
import type { StepReport } from '../step/run.js';
import { stepNotes, stepTable } from '../step/text.js';
import { digits, shortDigits } from '../text.js';
import { pageHTML } from './page.js';
import { lineChart } from './plots.js';

/** The passes of an optimizer step as one self-contained page. */
export function stepPage(report: StepReport): string {
  const rows = report.rows.filter(({ operation }) => operation !== 'step');
  const series = [...new Set(rows.map(({ operation }) => operation))];
  const limit = report.copyGBs.at(-1)!.copyGBs;
  const x = 'elements →';
  return pageHTML({
    title: 'The passes of an optimizer step',
    lead: `Norm, clipping, SGD and AdamW against what this machine's memory gives. ${hostText(report.host)}.`,
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
            points: rows.map((row) => ({ x: row.elements, y: row.medianMs, series: row.operation })),
          },
          series,
        ),
        caption: 'Lower is better. Both axes are logarithmic.',
      },
      {
        heading: 'Bandwidth',
        chart: lineChart(
          {
            x,
            y: '↑ GB/s, all threads',
            scale: 'linear',
            format: shortDigits,
            points: rows.map((row) => ({ x: row.elements, y: row.bandwidthGBs, series: row.operation })),
            limit: { y: limit, label: `copying beyond caches: ${digits(limit)}` },
          },
          series,
        ),
        caption: "Higher is better. Above the line the data come out of the processor's caches.",
      },
    ],
    table: stepTable(report),
    notes: stepNotes(report),
  });
}
