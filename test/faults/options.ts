import { Command, InvalidArgumentError, Option } from 'commander';
import { FAULTS } from './catalogue.js';

/** What is asked of a campaign. */
export interface Options {
  readonly runs: number;
  readonly seed: number;
  /** These runs of the draw alone. */
  readonly run: readonly number[];
  /** These faults alone. */
  readonly only?: readonly string[];
  readonly ranks?: number;
  readonly jobs: number;
  /** In seconds. */
  readonly deadline: number;
  readonly verbose: boolean;
}

/** Ends the process for arguments that it does not know, and says why. */
export function optionsOf(args: readonly string[]): Options {
  return new Command('npm run test:faults --')
    .description('Starts real jobs in which something goes wrong, and judges whether they end as is right.')
    .option('--runs <count>', 'how many', whole(1), 60)
    .option('--seed <number>', 'of the draw', whole(0), 1)
    .option('--run <place...>', 'these runs of the draw alone, from 0', wholes, [])
    .addOption(new Option('--only <fault...>', 'these faults alone').choices(FAULTS.map(({ name }) => name)))
    .option('--ranks <count>', 'jobs of so many ranks alone (default: 2 to 8)', whole(2))
    .option('--jobs <count>', 'how many at a time', whole(1), 2)
    .option('--deadline <seconds>', 'of the ranks, more on a host that is slow', whole(1), 3)
    .option('--verbose', 'show also what comes out where all is right', false)
    .parse(args, { from: 'user' })
    .opts<Options>();
}

/** The arguments by which one run is drawn again. */
export function replayOf({ seed, only, ranks }: Options, run: number): string {
  const parts = [`--seed ${seed}`, `--run ${run}`];
  if (only !== undefined) parts.push(`--only ${only.map((name) => `'${name}'`).join(' ')}`);
  if (ranks !== undefined) parts.push(`--ranks ${ranks}`);
  return `npm run test:faults -- ${parts.join(' ')}`;
}

function whole(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
  };
}

function wholes(text: string, before: readonly number[]): number[] {
  return [...before, whole(0)(text)];
}
