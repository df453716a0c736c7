import { faultNamed } from './catalogue.js';
import { draw } from './draw.js';
import { carryOut, type Limits } from './job.js';
import { judge } from './judge.js';

/** Every job has ended by its deadline and this much more. */
const AFTER_DEADLINE_MS = 10_000;

/** What a training may take, in times of one in which nothing goes wrong: the host may come to have other work. */
const START_FACTOR = 20;

const GENEROUS: Limits = { startMs: 120_000, endMs: 120_000, deadlineMs: 60_000 };

/**
 * Limits for this host, from how long a job takes in which nothing goes wrong: where that is long, everything may be. Throws
 * where such a job does not hold.
 */
export async function measureLimits(leastDeadlineMs: number): Promise<Limits> {
  const plan = draw({ seed: 1, runs: 1, only: ['nothing'], ranks: 8 })[0]!;
  return carryOut(plan, GENEROUS, (seen) => {
    const failings = judge(plan, faultNamed(plan.fault).right, seen);
    if (failings.length > 0) {
      const texts = failings.map(({ text }) => text).join('; ');
      throw new Error(`a job in which nothing goes wrong failed: ${texts}\n${seen.output}`);
    }
    const { tookMs } = seen;
    const deadlineMs = Math.max(leastDeadlineMs, Math.ceil(tookMs));
    return { startMs: START_FACTOR * tookMs, endMs: deadlineMs + AFTER_DEADLINE_MS + tookMs, deadlineMs };
  });
}
