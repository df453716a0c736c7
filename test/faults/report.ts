import type { Seen } from './job.js';
import type { Failing } from './judge.js';
import { describe, type Plan } from './plan.js';

/** Lines of a job's output that say little of why it failed. */
const MINOR = /^\s+at |has made step|^\s*$/;
const MOST_LINES = 20;

/** What came out of a run, for people. */
export function reportOf(plan: Plan, seen: Seen, failings: readonly Failing[], replay: string): string {
  const took = `${(seen.tookMs / 1000).toFixed(1)} s`;
  const code = seen.code === undefined ? 'ended by the campaign' : `exit code ${seen.code}`;
  const said = seen.output.split('\n').filter((line) => !MINOR.test(line));
  return [
    `${failings.length > 0 ? 'FAILED' : 'ok'}  ${describe(plan)}; ${code} after ${took}`,
    ...failings.map(({ kind, text }) => `    ${kind}: ${text}`),
    ...(failings.length > 0 ? [`    alone: ${replay}`] : []),
    ...said.slice(-MOST_LINES).map((line) => `    | ${line}`),
  ].join('\n');
}
