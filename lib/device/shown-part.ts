/** Node.js 20 shows no more bytes in one array. */
const MOST = 2 ** 32;

/** A run of elements in a buffer, in bytes. */
interface Run {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * The part of a buffer of `total` bytes that is shown to JavaScript as one ArrayBuffer for `run`, whose elements have
 * `size` bytes. V8 takes each ArrayBuffer for so much more memory and collects garbage for it, so that many runs share one
 * part: the parts are as large as may be, and begin at every half of that. A longer run that leaves its part, and one that
 * would not be aligned in it, gets a part of its own.
 */
export function shownPart(total: number, run: Run, size: number): Run {
  const offset = Math.floor(run.offset / (MOST / 2)) * (MOST / 2);
  const bytes = Math.min(MOST, total - offset);
  const holds = run.offset + run.bytes <= offset + bytes && (run.offset - offset) % size === 0;
  return holds ? { offset, bytes } : run;
}
