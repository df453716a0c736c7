import { InvalidArgumentError } from 'commander';
import { BenchmarkFailure } from '../../bench/failure.js';
import { FoldstepError } from '../../errors.js';
import { EXIT_FAILED } from '../exit-codes.js';
import { checkWritable, writeNamedFile } from '../write-file.js';

/** What every benchmark may be asked for. */
export interface BenchOptions {
  json?: true;
  report?: string;
}

/** One whole number from 1, or several with commas between. */
export function parseCounts(text: string): number[] {
  return text.split(',').map(parseCount);
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text.trim()) && Number.isSafeInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError('It must be a whole number of at least 1.');
}

/** Runs a benchmark; one that comes to no result says why and ends with exit code 1. */
export async function reportFailure(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const tooLarge = error instanceof FoldstepError && error.code === 'OUT_OF_MEMORY';
    if (!(error instanceof BenchmarkFailure || tooLarge)) throw error;
    process.stderr.write(`foldstep bench: ${error.message}\n`);
    process.exitCode = EXIT_FAILED;
  }
}

/** What a benchmark that can draw its results does with them. */
export interface Presentation<Report> {
  text(report: Report): string;
  /** A self-contained page; its library is loaded where a page is asked for. */
  page(report: Report): Promise<string>;
}

/** Measures, and tells as asked for; first makes sure that a page can be written. */
export async function present<Report>(
  measure: () => Promise<Report>,
  { json, report: file }: BenchOptions,
  { text, page }: Presentation<Report>,
): Promise<void> {
  if (file !== undefined) checkWritable('--report', file);
  const report = await measure();
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : text(report));
  if (file !== undefined) writeNamedFile('--report', file, await page(report));
}
