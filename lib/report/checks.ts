import { checkFields, checkList, checkText } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';
import type { LineChart, Page, Point, Section, Table } from './shapes.js';

/** The texts of a list, each read once. Throws INVALID_ARGUMENT. */
export function checkTexts(what: string, texts: readonly string[]): string[] {
  return checkList(what, texts, (text, i) => {
    checkText(`${what}[${i}]`, text);
    return text;
  });
}

/** A chart, each field read once. Throws INVALID_ARGUMENT. */
export function checkChart(given: LineChart): LineChart {
  const fields: readonly (keyof LineChart)[] = ['x', 'y', 'xScale', 'points', 'scale', 'format', 'limit'];
  const chart = checkFields('the fields of a chart', given, fields);
  checkText('x', chart.x);
  checkText('y', chart.y);
  if (chart.xScale !== undefined) oneOf('xScale', chart.xScale, ['powersOfTwo', 'linear']);
  oneOf('scale', chart.scale, ['log', 'linear', 'zeroAndLog']);
  if (typeof chart.format !== 'function') {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `format must be a function that gives the text of a number; it is ${show(chart.format)}`,
    );
  }
  const points = checkList('points', chart.points, checkPoint);
  return { ...chart, points, ...(chart.limit === undefined ? {} : { limit: checkLimit(chart.limit) }) };
}

/** A page, each field read once. Throws INVALID_ARGUMENT. */
export function checkPage(given: Page): Page {
  const fields: readonly (keyof Page)[] = ['title', 'lead', 'series', 'sections', 'table', 'notes'];
  const page = checkFields('the fields of a page', given, fields);
  checkText('title', page.title);
  checkText('lead', page.lead);
  return {
    title: page.title,
    lead: page.lead,
    series: checkTexts('series', page.series),
    sections: checkList('sections', page.sections, checkSection),
    table: checkTable(page.table),
    notes: checkTexts('notes', page.notes),
  };
}

function checkPoint(given: Point, i: number): Point {
  const point = checkFields(`points[${i}]`, given, ['x', 'y', 'series']);
  checkFinite(`points[${i}].x`, point.x);
  checkFinite(`points[${i}].y`, point.y);
  checkText(`points[${i}].series`, point.series);
  return point;
}

function checkLimit(given: NonNullable<LineChart['limit']>): NonNullable<LineChart['limit']> {
  const limit = checkFields('limit', given, ['y', 'label']);
  checkFinite('limit.y', limit.y);
  checkText('limit.label', limit.label);
  return limit;
}

function checkSection(given: Section, i: number): Section {
  const section = checkFields(`sections[${i}]`, given, ['heading', 'chart', 'caption']);
  checkText(`sections[${i}].heading`, section.heading);
  checkText(`sections[${i}].chart`, section.chart);
  checkText(`sections[${i}].caption`, section.caption);
  return section;
}

function checkTable(given: Table): Table {
  const table = checkFields('table', given, ['head', 'rows']);
  const head = checkTexts('table.head', table.head);
  const rows = checkList('table.rows', table.rows, (row, i) => {
    const cells = checkTexts(`table.rows[${i}]`, row);
    if (cells.length === head.length) return cells;
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `table.rows[${i}] must have ${head.length} cells, as the head has; it has ${cells.length}`,
    );
  });
  return { head, rows };
}

function checkFinite(what: string, value: number): void {
  if (Number.isFinite(value)) return;
  throw new FoldstepError('INVALID_ARGUMENT', `${what} must be a finite number; it is ${show(value)}`);
}

function oneOf(what: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `${what} must be one of ${allowed.join(', ')}; it is ${show(value)}`,
  );
}
