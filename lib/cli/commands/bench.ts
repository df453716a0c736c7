import { Command } from 'commander';
import { benchBoundaryCommand } from './bench-boundary.js';
import { benchCallsCommand } from './bench-calls.js';
import { benchMeshCommand } from './bench-mesh.js';
import { benchStepCommand } from './bench-step.js';

/** `program` gives its settings, which a command's own commands do not get otherwise. */
export function benchCommand(program: Command): Command {
  const command = new Command('bench')
    .copyInheritedSettings(program)
    .summary('measure this library on this machine')
    .description(
      'Measures on this machine. Every benchmark checks its results before it reports a time. Machines are noisy: compare within one run.',
    );
  for (const part of [benchBoundaryCommand(), benchStepCommand(), benchCallsCommand(), benchMeshCommand()]) {
    command.addCommand(part.copyInheritedSettings(command));
  }
  return command;
}
