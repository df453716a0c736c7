import { checkNumber } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';

/**
 * Three significant digits, never in powers of ten, such as `0.0123` and `41200`. Throws
 * INVALID_ARGUMENT.
 */
export function digits(value: number): string {
  checkNumber('value', value);
  if (value === 0) return '0';
  return Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}

/**
 * Three significant digits without zeros at the end, for the ticks of an axis. Throws
 * INVALID_ARGUMENT.
 */
export function shortDigits(value: number): string {
  return String(Number(digits(value)));
}

/**
 * A number of bytes in the largest unit that suits it, such as `1.50 MiB`. Throws INVALID_ARGUMENT.
 */
export function bytesText(bytes: number): string {
  if (!(Number.isFinite(bytes) && bytes >= 0)) {
    throw new FoldstepError('INVALID_ARGUMENT', `bytes must be a finite number from 0; it is ${show(bytes)}`);
  }
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${Number.isInteger(value) ? value : value.toFixed(2)} ${units[step]}`;
}
