#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { FoldstepError } from '../errors.js';
import { benchCommand } from './commands/bench.js';
import { doctorCommand } from './commands/doctor.js';
import { replayCommand } from './commands/replay.js';
import { runCommand } from './commands/run.js';
import { topologyCommand } from './commands/topology.js';
import { EXIT_FAILED, EXIT_REFUSED } from './exit-codes.js';
import { packageManifest } from './package-manifest.js';
import { printable } from './printable.js';
import { tellError } from './tell-error.js';
import { endWhereOutputIsUnread } from './unread-output.js';

const { version, description } = packageManifest();
const program = new Command('foldstep')
  .description(description)
  .version(version)
  .enablePositionalOptions()
  .showHelpAfterError('(add --help for what there is)')
  .configureOutput({ writeErr: (text) => process.stderr.write(printable(text)) })
  .exitOverride();
for (const command of [
  runCommand(),
  replayCommand(),
  topologyCommand(),
  doctorCommand(),
  benchCommand(program),
]) {
  program.addCommand(command.copyInheritedSettings(program));
}

endWhereOutputIsUnread();
try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has already said why; its own code for a wrong command line, 1, means a failed case to `replay`.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_REFUSED;
  } else if (error instanceof FoldstepError) {
    tellError(error);
    process.exitCode = error.code === 'LAUNCH_FAILED' ? EXIT_FAILED : EXIT_REFUSED;
  } else {
    throw error;
  }
}
