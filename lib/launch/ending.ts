import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { exitCodeOf, type JobEvent, type ProcessEnd } from './events.js';

/** How a job ended. */
export interface JobEnding {
  /** 0 only if every rank ended well; 128 + n for a job that signal n ended, or whose reader has gone (SIGPIPE). */
  readonly code: number;
  /** What it ended of, where it did not end well and that is known. */
  readonly reason?: string;
  /** Whether nobody reads its output any more, so that there is nobody to tell. */
  readonly unread?: true;
}

/** Of a pipe, and of a socket that still held something. */
const READER_GONE: readonly number[] = [constants.errno.EPIPE, constants.errno.ECONNRESET];

type RankEvent = Extract<JobEvent, { type: 'rank' }>;

/** What the events of a job, in their order, come to. */
export function endingOf(events: readonly JobEvent[]): JobEnding {
  const decisive = events.find(
    (event) => event.type === 'signal' || event.type === 'closed' || isOwnFailure(event),
  );
  switch (decisive?.type) {
    case 'signal':
      return afterSignal(decisive.signal, events);
    case 'closed':
      return afterClosing(decisive);
    case 'rank':
      return afterFailure(decisive, events);
    default:
      return withoutFailure(events);
  }
}

/** For people: "rank 3 was killed by SIGKILL; the job ended with exit code 137 (SIGKILL)". */
export function describeEnding({ code, reason }: JobEnding): string {
  const signal = Object.entries(constants.signals).find(([, number]) => 128 + number === code);
  const ended = `the job ended with exit code ${code}${signal ? ` (${signal[0]})` : ''}`;
  return reason === undefined ? ended : `${reason}; ${ended}`;
}

function afterSignal(signal: NodeJS.Signals, events: readonly JobEvent[]): JobEnding {
  if (events.every(isGood)) return { code: 0 };
  const code = 128 + constants.signals[signal];
  const overdue = events.some((event) => event.type === 'overdue' && event.who === 'ranks');
  return overdue ? { code, reason: `ranks that did not end in time after ${signal} were killed` } : { code };
}

function afterClosing({ stream, errno }: Extract<JobEvent, { type: 'closed' }>): JobEnding {
  if (READER_GONE.includes(errno)) return { code: 128 + constants.signals.SIGPIPE, unread: true };
  return {
    code: 1,
    reason: `standard ${stream} could not be written (${getSystemErrorName(-errno)})`,
  };
}

function afterFailure(first: RankEvent, events: readonly JobEvent[]): JobEnding {
  const before = events.slice(0, events.indexOf(first));
  const after = events.slice(before.length + 1).filter(isOwnFailure);
  // Whoever dies by a signal did not do so because of another rank, though that may have been seen first.
  const killed = after.filter(({ end }) => end.kind === 'signal' && first.end.kind === 'exit');
  const reasons = [...endedEarly(before), ...[first, ...killed].map(describeRank)];
  return { code: exitCodeOf(first.end), reason: reasons.join(', then ') };
}

function withoutFailure(events: readonly JobEvent[]): JobEnding {
  const launcher = events.find((event) => event.type === 'launcher');
  if (launcher === undefined) return { code: 1, reason: 'the process that supervises the job has died' };
  // All ranks had ended well, and the launcher did not end after them.
  if (events.some((event) => event.type === 'overdue')) return { code: 0 };
  const code = exitCodeOf(launcher.end);
  if (code === 0 && !events.some((event) => event.type === 'rank' && event.asked)) return { code };
  if (launcher.end.kind === 'signal') {
    return { code, reason: `the launcher was killed by ${launcher.end.signal}` };
  }
  const early = endedEarly(events).map(
    (ranks) => `${ranks}, without having called init() or while the others still needed it`,
  );
  return { code: code || 1, ...(early[0] === undefined ? {} : { reason: early[0] }) };
}

/** Ranks that ended well before the job failed; none, or one text. */
function endedEarly(events: readonly JobEvent[]): string[] {
  const ranks = events.flatMap((event) =>
    event.type === 'rank' && !event.asked && isGood(event) ? [event.rank] : [],
  );
  if (ranks.length === 0) return [];
  return [`${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.join(', ')} had ended with exit code 0`];
}

function describeRank({ rank, end }: RankEvent): string {
  return `rank ${rank} ${describeEnd(end)}`;
}

function describeEnd(end: ProcessEnd): string {
  if (end.kind === 'exit') return `exited with code ${end.code}`;
  return end.kind === 'signal' ? `was killed by ${end.signal}` : 'was killed';
}

function isOwnFailure(event: JobEvent): event is RankEvent {
  return event.type === 'rank' && !event.asked && !isGood(event);
}

function isGood(event: JobEvent): boolean {
  if (event.type === 'rank' || event.type === 'launcher') return exitCodeOf(event.end) === 0;
  return event.type === 'signal';
}
