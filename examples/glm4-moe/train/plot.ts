import { bytesText, digits, lineChart, pageHTML, shortDigits } from 'foldstep/report';
import type { StepMetrics } from './metrics.ts';

/** The steps of one run, under the name that its curves have. */
export interface Run {
  readonly name: string;
  readonly steps: readonly StepMetrics[];
}

/** The curves of some runs over each other as one HTML page that needs nothing else. `lead`: what the runs are of. */
export function metricsPage(runs: readonly Run[], lead: string): string {
  const series = runs.map(({ name }) => name);
  const chart = (y: string, value: (metrics: StepMetrics) => number): string => {
    const points = runs.flatMap(({ name, steps }) =>
      steps
        .map((metrics) => ({ x: metrics.step, y: value(metrics), series: name }))
        .filter((point) => Number.isFinite(point.y)),
    );
    return lineChart(
      { x: 'step →', y, xScale: 'linear', scale: 'linear', format: shortDigits, points },
      series,
    );
  };
  return pageHTML({
    title: 'Training',
    lead,
    series,
    sections: [
      {
        heading: 'Loss',
        chart: chart('↑ cross-entropy, nats a token', ({ loss }) => loss),
        caption: 'Of the data that each step was made with.',
      },
      {
        heading: 'Gradient norm',
        chart: chart('↑ norm', ({ gradNorm }) => gradNorm),
        caption: 'Of the whole gradient, before clipping. Skipped steps are left out.',
      },
      {
        heading: 'Learning rate',
        chart: chart('↑ learning rate', ({ learningRate }) => learningRate),
        caption: 'What the schedule gave.',
      },
      {
        heading: 'Speed',
        chart: chart('↑ tokens a second, all ranks', ({ tokensPerSecond }) => tokensPerSecond),
        caption: 'Higher is better.',
      },
    ],
    table: {
      head: ['run', 'steps', 'skipped', 'first loss', 'last loss', 'tokens/s', 'temporaries', 'resident'],
      rows: runs.map(summary),
    },
    notes: [
      'tokens/s: the median. temporaries: the most that foldstep held besides its arguments; resident: the process after the last step; both of rank 0.',
    ],
  });
}

function summary({ name, steps }: Run): string[] {
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last) return [name, '0', '0', '', '', '', '', ''];
  const speeds = steps.map(({ tokensPerSecond }) => tokensPerSecond).sort((a, b) => a - b);
  return [
    name,
    String(steps.length),
    String(steps.filter(({ skipped }) => skipped).length),
    lossText(first),
    lossText(last),
    digits(speeds[Math.floor(speeds.length / 2)]!),
    bytesText(Math.max(...steps.map(({ temporaryPeakBytes }) => temporaryPeakBytes))),
    bytesText(last.residentBytes),
  ];
}

function lossText({ loss }: StepMetrics): string {
  return Number.isFinite(loss) ? loss.toFixed(4) : 'not finite';
}
