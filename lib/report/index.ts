export { lineChart } from './line-chart.js';
export { bytesText, digits, shortDigits } from './numbers.js';
export { pageHTML } from './page.js';
export type { LineChart, Page, Point, Section, Table } from './shapes.js';
