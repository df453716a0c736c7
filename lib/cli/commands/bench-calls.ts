import { Command } from 'commander';
import { benchCalls, callsText } from '../../bench/calls.js';
import { type BenchOptions, reportFailure } from './bench-options.js';

export function benchCallsCommand(): Command {
  return new Command('calls')
    .summary('time calls from JavaScript into the addon')
    .description('Times a call into the addon, an awaited stream, and accumulate() on many small parameters.')
    .option('--json', 'print one JSON object and nothing else on standard output')
    .action(({ json }: BenchOptions) =>
      reportFailure(async () => {
        const report = await benchCalls();
        process.stdout.write(json ? `${JSON.stringify(report)}\n` : callsText(report));
      }),
    );
}
