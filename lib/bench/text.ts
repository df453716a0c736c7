export interface Table {
  readonly head: readonly string[];
  /** As many cells each as `head`. */
  readonly rows: readonly (readonly string[])[];
}

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

/** Three significant digits, never in powers of ten. */
export function digits(value: number): string {
  if (value === 0) return '0';
  return Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}

/** The same without zeros at the end, for axes. */
export function shortDigits(value: number): string {
  return String(Number(digits(value)));
}

/** Such as `1.50 MiB`. */
export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${Number.isInteger(value) ? value : value.toFixed(2)} ${units[step]}`;
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
