import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { reading } from '../arguments.js';
import { checkChart, checkTexts } from './checks.js';
import type { LineChart, Point } from './shapes.js';

/** Small enough that its letters stay readable where a phone shrinks it. */
const WIDTH = 400;
const HEIGHT = 300;
/** Below it a value is shown at the bottom, with 0. */
const SMALLEST_SHOWN = 1024;
/** Of a series; more would cover its line. */
const MOST_MARKS = 24;

/** Marks told apart without colour too: each series has a shape of its own. */
const SYMBOLS = ['circle', 'square', 'triangle', 'diamond', 'star', 'cross', 'wye', 'times', 'plus'] as const;

/**
 * A chart as SVG text, 400 by 300 units large. Its colours are CSS variables, `--series-0` and so
 * on, in the order of `series`, which `pageHTML` sets. Points that a logarithmic axis has no place
 * for are left out. Throws INVALID_ARGUMENT.
 */
export function lineChart(given: LineChart, givenSeries: readonly string[]): string {
  const chart = withText(checkChart(given));
  const series = checkTexts('series', givenSeries);
  const { document } = parseHTML('<!doctype html><html><body></body></html>');
  const { points, limit } = chart;
  const channels = { x: 'x', y: 'y', z: 'series', stroke: 'series' } as const;
  const picture: { outerHTML: string } = Plot.plot({
    document,
    width: WIDTH,
    height: HEIGHT,
    marginLeft: 58,
    marginBottom: 40,
    x: { ...xScale(chart), label: chart.x, ticks: 5 },
    y: { ...yScale(chart), label: chart.y, grid: true, tickFormat: chart.format },
    color: { domain: [...series], range: series.map((_, index) => `var(--series-${index})`) },
    symbol: { domain: [...series], range: series.map((_, index) => SYMBOLS[index % SYMBOLS.length]!) },
    marks: [
      ...(limit ? [Plot.ruleY([limit.y], { stroke: 'currentColor', strokeDasharray: '4 3' })] : []),
      Plot.line(points, { ...channels, strokeWidth: 1.8 }),
      Plot.dot(marked(points), { ...channels, symbol: 'series', r: 3.5, title: titleOf(chart) }),
      ...(limit
        ? [
            Plot.text([limit.y], {
              y: (y) => y,
              text: () => limit.label,
              frameAnchor: 'left',
              dx: 6,
              dy: -9,
              fill: 'currentColor',
              stroke: 'var(--card)',
              strokeWidth: 4,
            }),
          ]
        : []),
    ],
  });
  return picture.outerHTML;
}

/** The sign of a series in the charts, for a legend. */
export function symbolOf(index: number): string {
  const glyphs = {
    circle: '○',
    square: '□',
    triangle: '△',
    diamond: '◇',
    star: '☆',
    cross: '✚',
    wye: 'Y',
    times: '×',
    plus: '+',
  };
  return glyphs[SYMBOLS[index % SYMBOLS.length]!];
}

/** The points that get a mark: where a series has many, some at equal distances. */
function marked(points: readonly Point[]): Point[] {
  const series = [...new Set(points.map((point) => point.series))];
  return series.flatMap((name) => {
    const own = points.filter((point) => point.series === name);
    const step = Math.ceil(own.length / MOST_MARKS);
    return own.filter((_, index) => index % step === 0);
  });
}

function xScale({ xScale }: LineChart): Plot.ScaleOptions {
  return xScale === 'linear' ? { type: 'linear' } : { type: 'log', base: 2, tickFormat: powerOfTwo };
}

function yScale({ scale, points }: LineChart): Plot.ScaleOptions {
  const values = points.map(({ y }) => y);
  if (scale === 'zeroAndLog') {
    const ticks = [0, ...powers(4, [4 * SMALLEST_SHOWN, ...values])];
    return {
      type: 'symlog',
      constant: SMALLEST_SHOWN,
      domain: [0, Math.max(ticks.at(-1)!, ...values)],
      ticks,
    };
  }
  if (scale === 'log') return { type: 'log', ticks: decades(values) };
  return { zero: true, nice: true, ticks: 5 };
}

/** Powers of ten, and twice and five times those where `values` span too little for them. */
function decades(values: readonly number[]): number[] {
  const tens = powers(10, values);
  if (tens.length > 2) return tens;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const finer = [tens[0]! / 10, ...tens].flatMap((ten) => [ten, 2 * ten, 5 * ten]);
  const within = finer.filter((tick) => least <= tick && tick <= most);
  return within.length > 0 ? within : [least, most];
}

/**
 * The powers of a base that `values` lie between, those next to them included where they are
 * within.
 */
function powers(base: number, values: readonly number[]): number[] {
  const exponent = (value: number): number => Math.log(value) / Math.log(base);
  const positive = values.filter((value) => value > 0);
  const first = Math.ceil(exponent(Math.min(...positive)));
  const last = Math.floor(exponent(Math.max(...positive)));
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, i) => base ** (first + i));
}

function titleOf({ xScale, format }: LineChart) {
  const place = xScale === 'linear' ? String : powerOfTwo;
  return ({ series, x, y }: Point): string => `${series}, ${place(x)}: ${format(y)}`;
}

function powerOfTwo(value: number): string {
  const power = Math.log2(value);
  return Number.isInteger(power) ? `2^${power}` : String(value);
}

/** The same chart with a format that throws nothing but FoldstepErrors. */
function withText(chart: LineChart): LineChart {
  return { ...chart, format: (value) => reading('what format gives', () => String(chart.format(value))) };
}
