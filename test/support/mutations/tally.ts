import { FoldstepError } from '#lib/errors.js';

/** Far more than any name or value may take in a message. */
const LONGEST_MESSAGE = 3000;

/** What came of many readings: how often each, by error code or `read`, and the longest. */
export class Tally {
  readonly counts: Record<string, number> = {};
  /** Of processor time: what else the machine does is no matter. */
  slowestMs = 0;
  /** What `attempt` did otherwise than it should, with the number of the mutation. */
  readonly faults: string[] = [];

  /** Runs `attempt`, which may throw FoldstepErrors of these codes alone. Gives the error, if there was one. */
  take(number: number, codes: readonly string[], attempt: () => void): FoldstepError | undefined {
    const before = process.cpuUsage();
    let thrown: unknown;
    try {
      attempt();
    } catch (error) {
      thrown = error;
    }
    const { user, system } = process.cpuUsage(before);
    this.slowestMs = Math.max(this.slowestMs, (user + system) / 1000);
    const code = thrown instanceof FoldstepError ? thrown.code : thrown === undefined ? 'read' : 'other';
    this.counts[code] = (this.counts[code] ?? 0) + 1;
    if (code !== 'read' && !codes.includes(code)) this.faults.push(`${number}: ${String(thrown)}`);
    if (!(thrown instanceof FoldstepError)) return undefined;
    if (thrown.message.length > LONGEST_MESSAGE)
      this.faults.push(`${number}: ${thrown.message.length} letters`);
    if (/[\p{Cc}\u202e\u2028]/u.test(thrown.message))
      this.faults.push(`${number}: ${JSON.stringify(thrown.message)}`);
    return thrown;
  }
}
