import { Command } from 'commander';
import { benchMesh, meshText } from '../../bench/mesh/run.js';
import { type BenchOptions, reportFailure } from './bench-options.js';

export function benchMeshCommand(): Command {
  return new Command('mesh')
    .summary('time topology, and print what worlds of many sizes cost')
    .description(
      "Times the groups and the ownership of one rank in worlds from 8 to 1,048,576, and prints bytes and messages per rank by path and ZeRO stage, from the optimizer's own schedule.",
    )
    .option('--json', 'print one JSON object and nothing else on standard output')
    .action(({ json }: BenchOptions) =>
      reportFailure(async () => {
        const report = await benchMesh();
        process.stdout.write(json ? `${JSON.stringify(report)}\n` : meshText(report));
      }),
    );
}
