import { InvalidArgumentError, Option } from 'commander';
import { FoldstepError } from '../../errors.js';
import { addon } from '../../native/load.js';

/** What ranks compute on. */
export function backendOption(): Option {
  const option = new Option('--backend <device>', 'what the ranks compute on, such as cpu or cuda');
  return option.argParser(checkBackend).default('cpu');
}

function checkBackend(name: string): string {
  const names = knownBackends();
  if (names === undefined || names.includes(name)) return name;
  throw new InvalidArgumentError(`Allowed choices are ${names.join(', ')}.`);
}

/** None where the addon is not built: whoever needs it says so. */
function knownBackends(): readonly string[] | undefined {
  try {
    return addon().backendNames();
  } catch (error) {
    if (error instanceof FoldstepError) return undefined;
    throw error;
  }
}
