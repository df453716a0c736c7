import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { FoldstepError } from '../../errors.js';
import { describeEnding } from '../../launch/ending.js';
import { GRACE_MS, runJob } from '../../launch/job.js';

const NOTES = `
Arguments reach the script unchanged. Rank 0 reads the command's standard input, the other ranks read nothing.

SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 to the command reach every rank. After one of the first three, ranks that
have not ended within the time of --grace are killed; a second Ctrl-C kills them at once. No rank outlives the command.

The exit code is that of the rank that failed first, 128 + n if signal n killed it or ended the job, and 141 if nobody
reads the output any more. It is 0 only if every rank ended well.

Ranks may run as root: the launcher's own refusal of root is switched off.`;

interface RunOptions {
  readonly ranks: number;
  readonly grace: number;
}

export function runCommand(): Command {
  return new Command('run')
    .summary('start a script as several ranks on this host')
    .description(
      'Starts a script as several ranks on this host, with the MPI launcher and the flags that it needs here, and says which rank failed first.',
    )
    .requiredOption('-n, --ranks <count>', 'number of ranks', parseRanks)
    .option(
      '--grace <seconds>',
      'what ranks have to end after a signal that asks them to',
      parseSeconds,
      GRACE_MS / 1000,
    )
    .argument('<script>', 'JavaScript file that calls init()')
    .argument('[args...]', 'passed on to the script')
    .passThroughOptions()
    .addHelpText('after', NOTES)
    .action(run);
}

async function run(script: string, args: string[], { ranks, grace }: RunOptions): Promise<void> {
  // A relative name may begin with a dash, which Node.js would take for an option.
  const file = resolve(script);
  if (!existsSync(file)) throw new FoldstepError('INVALID_ARGUMENT', `there is no script ${file}`);
  const ending = await runJob({ ranks, script: [file, ...args], graceMs: Math.round(grace * 1000) });
  if (ending.code !== 0 && !ending.unread) {
    process.stderr.write(`foldstep run: ${describeEnding(ending)}\n`);
  }
  process.exitCode = ending.code;
}

function parseRanks(text: string): number {
  const ranks = Number(text);
  if (Number.isInteger(ranks) && ranks >= 1) return ranks;
  throw new InvalidArgumentError('It must be an integer of at least 1.');
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0 && seconds <= 1e6) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds from 0 to 1000000.');
}
