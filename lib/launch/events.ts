import { constants } from 'node:os';

/** How a process ended. `lost`: nobody saw how; the process that guarded it was killed together with it. */
export type ProcessEnd =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'lost' };

/** What the supervisor of a job reports, in the order in which it happened. */
export type JobEvent =
  /** A signal that asks the job to end has come. */
  | { readonly type: 'signal'; readonly signal: NodeJS.Signals }
  /** A rank has ended; `asked`: after the launcher had told it to. */
  | { readonly type: 'rank'; readonly rank: number; readonly end: ProcessEnd; readonly asked: boolean }
  /** Standard output or error takes no more. */
  | { readonly type: 'closed'; readonly stream: 'output' | 'error'; readonly errno: number }
  /** What did not end in time is killed. */
  | { readonly type: 'overdue'; readonly who: 'ranks' | 'launcher' }
  | { readonly type: 'launcher'; readonly end: ProcessEnd };

/** Reads one line of native/launch/reports.hpp. */
export function parseEvent(line: string): JobEvent {
  const [type, ...words] = line.split(' ') as [string, ...string[]];
  switch (type) {
    case 'signal':
      return { type, signal: signalName(Number(words[0])) };
    case 'rank':
      return {
        type,
        rank: Number(words[0]),
        end: parseEnd(words[2]!, words[3]),
        asked: words[1] === 'asked',
      };
    case 'closed':
      return { type, stream: words[0] === '1' ? 'output' : 'error', errno: Number(words[1]) };
    case 'overdue':
      return { type, who: words[0] as 'ranks' | 'launcher' };
    case 'launcher':
      return { type, end: parseEnd(words[0]!, words[1]) };
    default:
      throw new Error(`the supervisor of a job reported "${line}"`);
  }
}

/** The exit code that a shell gives such an end. */
export function exitCodeOf(end: ProcessEnd): number {
  if (end.kind === 'exit') return end.code;
  return 128 + constants.signals[end.kind === 'signal' ? end.signal : 'SIGKILL'];
}

function parseEnd(kind: string, number: string | undefined): ProcessEnd {
  if (kind === 'exit') return { kind, code: Number(number) };
  if (kind === 'signal') return { kind, signal: signalName(Number(number)) };
  return { kind: 'lost' };
}

function signalName(number: number): NodeJS.Signals {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return (found?.[0] ?? `signal ${number}`) as NodeJS.Signals;
}
