import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { FoldstepError } from '../../errors.js';
import { runJob } from '../../launch/job.js';

export function runCommand(): Command {
  return new Command('run')
    .summary('start a script as several ranks on this host')
    .description(
      "Starts a script as several ranks on this host, with the MPI launcher and the flags that it needs here. Signals are passed on; the exit code is the job's.",
    )
    .requiredOption('-n, --ranks <count>', 'number of ranks', parseRanks)
    .argument('<script>', 'JavaScript file that calls init()')
    .argument('[args...]', 'passed on to the script')
    .passThroughOptions()
    .action(async (script: string, args: string[], { ranks }: { ranks: number }) => {
      if (!existsSync(script)) {
        throw new FoldstepError('INVALID_ARGUMENT', `there is no script ${resolve(script)}`);
      }
      const code = await runJob({ ranks, script: [script, ...args] });
      if (code !== 0) process.stderr.write(`foldstep run: the job ended with ${describeCode(code)}\n`);
      process.exitCode = code;
    });
}

function describeCode(code: number): string {
  const signal = Object.entries(constants.signals).find(([, number]) => 128 + number === code);
  return `exit code ${code}${signal ? ` (${signal[0]})` : ''}`;
}

function parseRanks(text: string): number {
  const ranks = Number(text);
  if (Number.isInteger(ranks) && ranks >= 1) return ranks;
  throw new InvalidArgumentError('It must be an integer of at least 1.');
}
