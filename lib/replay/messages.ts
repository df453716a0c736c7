import type { DeviceKind } from '../device/device.js';
import type { CaseOutcome } from './result.js';
import type { Setting } from './setting.js';

/** What the ranks of a replay are started with, as one argument. */
export interface RankTask {
  readonly folder: string;
  readonly device: DeviceKind;
  /** One replay each, one after the other. */
  readonly settings: readonly Setting[];
}

/** What rank 0 tells the process that started it. */
export type Message = { readonly type: 'step' } | { readonly type: 'outcome'; readonly outcome: CaseOutcome };

// Whatever else a library may print on the same stream does not begin so.
const MARK = '\u001efoldstep-replay ';

/** A message as one line of standard output. */
export function encodeMessage(message: Message): string {
  return `${MARK}${JSON.stringify(message)}\n`;
}

/** The message of a line, or undefined for a line that is none. */
export function decodeMessage(line: string): Message | undefined {
  return line.startsWith(MARK) ? (JSON.parse(line.slice(MARK.length)) as Message) : undefined;
}
