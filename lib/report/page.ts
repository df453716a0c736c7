import { checkPage } from './checks.js';
import { symbolOf } from './line-chart.js';
import type { Page, Section } from './shapes.js';

/**
 * Hues far from each other, dark enough for white and light enough for black; the marks' shapes
 * tell series apart without them.
 */
const LIGHT = [
  '#a86f00',
  '#0072b2',
  '#c04a00',
  '#007a5a',
  '#a34a80',
  '#6b3fa0',
  '#5b5b5b',
  '#b3003c',
  '#333333',
];
const DARK = [
  '#f0b23e',
  '#5cb8f0',
  '#ff9150',
  '#3fd1a4',
  '#e59bc6',
  '#b79cff',
  '#b5b5b5',
  '#ff7a9c',
  '#eeeeee',
];

/**
 * The text of one HTML file that needs nothing else: no script, no font, no network. It is light or
 * dark as the reader's system is. Throws INVALID_ARGUMENT.
 */
export function pageHTML(page: Page): string {
  const { title, lead, series, sections, table, notes } = checkPage(page);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHTML(title)}</title>
<style>
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --card: #f6f7f9; --line: #d5d9df; ${variables(LIGHT)} }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --paper: #14171a; --card: #1d2126; --line: #39404a; ${variables(DARK)} }
}
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 1320px; padding: 16px; color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif }
h1 { font-size: 1.5rem; line-height: 1.2; margin: 8px 0 }
h2 { font-size: 1.05rem; margin: 0 0 8px }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; padding: 0; list-style: none }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 390px), 1fr)); gap: 16px }
figure { margin: 0; padding: 12px; background: var(--card); border: 1px solid var(--line); border-radius: 8px }
figure svg { display: block; width: 100%; height: auto; overflow: visible; color: inherit; background: none; font: 12px system-ui, sans-serif }
figcaption { font-size: .875rem; margin-top: 8px }
.scroll { overflow-x: auto; margin-top: 16px }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums }
th, td { padding: 4px 10px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line) }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--paper) }
</style>
</head>
<body>
<h1>${escapeHTML(title)}</h1>
<p>${escapeHTML(lead)}</p>
<ul class="legend">${series.map(legendItem).join('')}</ul>
<div class="charts">
${sections.map(figure).join('\n')}
</div>
<div class="scroll"><table>
<thead><tr>${table.head.map((cell) => `<th scope="col">${escapeHTML(cell)}</th>`).join('')}</tr></thead>
<tbody>
${table.rows.map((row) => `<tr>${row.map((cell) => `<td>${escapeHTML(cell)}</td>`).join('')}</tr>`).join('\n')}
</tbody>
</table></div>
${notes.map((note) => `<p>${escapeHTML(note)}</p>`).join('\n')}
</body>
</html>
`;
}

function variables(colours: readonly string[]): string {
  return colours.map((colour, index) => `--series-${index}: ${colour};`).join(' ');
}

function legendItem(name: string, index: number): string {
  return `<li><span style="color: var(--series-${index})" aria-hidden="true">${symbolOf(index)}</span> ${escapeHTML(name)}</li>`;
}

function figure({ heading, chart, caption }: Section): string {
  return `<figure><h2>${escapeHTML(heading)}</h2>${chart}<figcaption>${escapeHTML(caption)}</figcaption></figure>`;
}

function escapeHTML(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
