import { bytesText } from '../report/numbers.js';
import type { Table } from '../report/shapes.js';

/** A table as lines: the first column to the left, numbers to the right. */
export function tableText({ head, rows }: Table): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Peak of a ledger that not every row has. */
export function peakText(bytes: number | null): string {
  return bytes === null ? 'not measured' : bytesText(bytes);
}

/** Such as `2^20` for powers of two, the number itself for others. */
export function countText(count: number): string {
  const power = Math.log2(count);
  return count >= 1024 && Number.isInteger(power) ? `2^${power}` : String(count);
}
