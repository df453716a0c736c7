import { fileURLToPath } from 'node:url';
import type { DeviceKind } from '../device/device.js';
import { FoldstepError } from '../errors.js';
import { describeEnding } from '../launch/ending.js';
import { runJob } from '../launch/job.js';
import type { ReplayCase } from './case.js';
import { decodeMessage, type RankTask } from './messages.js';
import { brokenOutcome, type CaseOutcome } from './result.js';
import type { Setting } from './setting.js';

const RANK_PROGRAM = fileURLToPath(new URL('./rank.js', import.meta.url));

/** How to replay, and what a caller may follow it by. */
export interface ReplayOptions {
  /** What the ranks compute on. Default `cpu`. */
  device?: DeviceKind;
  /** A step of one setting's replay is done. */
  onStep?: () => void;
}

/**
 * Starts a case's ranks once and replays it under each setting; resolves with one outcome a setting, in order. A job that
 * ends early gives failed outcomes for what it had not done.
 */
export async function replayCase(
  recorded: ReplayCase,
  settings: readonly Setting[],
  { device = 'cpu', onStep }: ReplayOptions = {},
): Promise<CaseOutcome[]> {
  const task: RankTask = { folder: recorded.folder, device, settings };
  const outcomes: CaseOutcome[] = [];
  const onLine = (line: string): void => {
    const message = decodeMessage(line);
    if (message?.type === 'outcome') outcomes.push(message.outcome);
    else if (message?.type === 'step') onStep?.();
    else process.stderr.write(`${line}\n`);
  };
  const ranks = recorded.mesh.world;
  let failure: string;
  try {
    const ending = await runJob({ ranks, script: [RANK_PROGRAM, JSON.stringify(task)], onLine });
    if (ending.code === 0 && outcomes.length === settings.length) return outcomes;
    failure = `on ${ranks} ranks, ${describeEnding(ending)}`;
  } catch (error) {
    if (!(error instanceof FoldstepError)) throw error;
    failure = `${error.code}: ${error.message}`;
  }
  const missing = settings.slice(outcomes.length);
  return [
    ...outcomes,
    ...missing.map((setting) => brokenOutcome(recorded.name, ranks, device, setting, failure)),
  ];
}
