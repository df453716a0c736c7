import { faultNamed } from './catalogue.js';
import { draw } from './draw.js';
import { carryOut, endJobs } from './job.js';
import { judge } from './judge.js';
import { measureLimits } from './limits.js';
import { optionsOf, replayOf } from './options.js';
import { reportOf } from './report.js';
import { Tally } from './tally.js';

/** Runs the campaign that the arguments ask for, and gives the process's exit code. */
export async function campaign(args: readonly string[]): Promise<number> {
  const options = optionsOf(args);
  const { run: chosen, jobs, verbose } = options;
  const tally = new Tally();
  process.once('SIGINT', () => leave(tally, 130));
  process.once('SIGTERM', () => leave(tally, 143));
  process.once('exit', endJobs);

  const limits = await measureLimits(1000 * options.deadline);
  console.log(`the ranks have a deadline of ${(limits.deadlineMs / 1000).toFixed(1)} s on this host`);
  const runs = Math.max(options.runs, ...chosen.map((place) => place + 1));
  const drawn = draw({ ...options, runs });
  const plans = chosen.length === 0 ? drawn : chosen.map((place) => drawn[place]!);
  const queue = plans.values();
  const work = async () => {
    for (const plan of queue) {
      await carryOut(plan, limits, (seen) => {
        const failings = judge(plan, faultNamed(plan.fault).right, seen);
        tally.add(plan, failings);
        if (failings.length === 0 && !verbose) return;
        console.log(reportOf(plan, seen, failings, replayOf(options, plan.run)));
      });
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));

  const failed = plans.length - tally.held;
  console.log(tally.text());
  console.log(`${tally.held} passed, ${failed} failed, 0 skipped`);
  return failed > 0 ? 1 : 0;
}

/** What has been found by then is not lost. */
function leave(tally: Tally, code: number): void {
  console.log(tally.text());
  process.exit(code);
}
