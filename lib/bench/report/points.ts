import type { Point } from '../../report/shapes.js';

/** A point for each row that has a value; `elements` along the axis below. */
export function pointsOf<Row extends { readonly elements: number }>(
  rows: readonly Row[],
  series: (row: Row) => string,
  y: (row: Row) => number | null,
): Point[] {
  return rows.flatMap((row) => {
    const value = y(row);
    return value === null ? [] : [{ x: row.elements, y: value, series: series(row) }];
  });
}
