import { SingleBar } from 'cli-progress';
import { Command } from 'commander';
import type { DeviceKind } from '../../device/device.js';
import { FoldstepError } from '../../errors.js';
import { ReplayCase } from '../../replay/case.js';
import { outcomeText, totalText } from '../../replay/report.js';
import type { CaseReport } from '../../replay/result.js';
import { replayCase } from '../../replay/run.js';
import { type Setting, type SettingChoices, settingsOf } from '../../replay/setting.js';
import { showName } from '../../show.js';
import { EXIT_FAILED, EXIT_OK, EXIT_REFUSED } from '../exit-codes.js';
import { tellError } from '../tell-error.js';
import { backendOption } from './backend-option.js';

interface ReplayOptions extends SettingChoices {
  json?: true;
  backend: DeviceKind;
}

export function replayCommand(): Command {
  return new Command('replay')
    .summary('replay recorded training and compare every number')
    .description(
      'Starts the ranks of each recorded case, feeds them their gradients, and compares norms, gradients, masters, state and weights with what is expected. Exit code 0: all passed; 1: one failed; 2: one could not be read.',
    )
    .argument('<case...>', 'folders with a case.json')
    .option('--json', 'print one JSON object and nothing else on standard output')
    .option('--path <path>', 'auto, direct, owner, exchange or library (default: auto)')
    .option('--correct <when>', 'microbatch or step (default: microbatch)')
    .addOption(backendOption())
    .option('--zero <stage>', "0, 1 or 2 (default: the case's own)")
    .addHelpText(
      'after',
      '\nEach of the three may name several values with commas between: every combination is replayed.',
    )
    .action(replay);
}

async function replay(folders: string[], options: ReplayOptions): Promise<void> {
  const reports: CaseReport[] = [];
  let unreadable = false;
  for (const folder of folders) {
    const read = readCase(folder, options);
    if (read === undefined) unreadable = true;
    else reports.push(...(await replayRead(read.recorded, read.settings, options)));
  }
  const passed = !unreadable && reports.every((report) => report.passed);
  if (options.json) process.stdout.write(`${JSON.stringify({ cases: reports, passed })}\n`);
  else if (reports.length > 0) process.stdout.write(`${totalText(reports)}\n`);
  process.exitCode = unreadable ? EXIT_REFUSED : passed ? EXIT_OK : EXIT_FAILED;
}

/** Undefined for a case that cannot be read: standard error says why. */
function readCase(
  folder: string,
  options: ReplayOptions,
): { recorded: ReplayCase; settings: Setting[] } | undefined {
  try {
    const recorded = new ReplayCase(folder);
    recorded.verify();
    return { recorded, settings: settingsOf(options, recorded.content.training.zeroStage) };
  } catch (error) {
    if (!(error instanceof FoldstepError)) throw error;
    if (error.code !== 'CASE_UNREADABLE' && error.code !== 'SAFETENSORS_INVALID') throw error;
    tellError(error);
    return undefined;
  }
}

async function replayRead(
  recorded: ReplayCase,
  settings: readonly Setting[],
  { json, backend }: ReplayOptions,
): Promise<CaseReport[]> {
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: barFormat(recorded.name), clearOnComplete: true })
    : null;
  bar?.start(settings.length * recorded.content.training.steps, 0);
  const outcomes = await replayCase(recorded, settings, {
    device: backend,
    onStep: () => bar?.increment(),
  });
  bar?.stop();
  for (const outcome of outcomes) {
    if (!json) process.stdout.write(`${outcomeText(outcome)}\n`);
    else if (!outcome.report.passed) process.stderr.write(`${outcomeText(outcome)}\n`);
  }
  return outcomes.map(({ report }) => report);
}

function barFormat(name: string): string {
  return `${showName(name)} {bar} {value}/{total} steps`;
}
