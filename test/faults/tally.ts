import { FAILINGS, type Failing } from './judge.js';
import type { Plan } from './plan.js';

/** Counts by fault of the runs, and of those that failed to hold in each of the ways. */
export class Tally {
  readonly #rows = new Map<string, number[]>();
  #held = 0;

  /** Runs in which all held. */
  get held(): number {
    return this.#held;
  }

  add({ fault }: Plan, failings: readonly Failing[]): void {
    const row = this.#rows.get(fault) ?? [0, 0, ...FAILINGS.map(() => 0)];
    this.#rows.set(fault, row);
    row[0]! += 1;
    for (const [i, kind] of FAILINGS.entries())
      if (failings.some((one) => one.kind === kind)) row[i + 2]! += 1;
    if (failings.length > 0) return;
    row[1]! += 1;
    this.#held += 1;
  }

  /** A table, its last line the sums. */
  text(): string {
    const rows = [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1));
    const sums = rows.reduce(
      (sum, [, row]) => sum.map((count, i) => count + row[i]!),
      [0, 0, ...FAILINGS.map(() => 0)],
    );
    const width = Math.max(0, ...rows.map(([fault]) => fault.length));
    const heads = ['runs', 'held', ...FAILINGS];
    const line = (name: string, cells: readonly (string | number)[]) =>
      `${name.padEnd(width)}  ${cells.map((cell, i) => String(cell).padStart(heads[i]!.length)).join('  ')}`;
    return [
      line('', heads),
      ...rows.map(([fault, row]) =>
        line(
          fault,
          row.map((count) => count || '-'),
        ),
      ),
      line('', sums),
    ].join('\n');
  }
}
