// How lines of a job's output name the culprit. WHO stands for it, alone or in a list of ranks.

const WHO = 'WHO(?: \\(process \\d+\\))?';

/** It has ended: from those who wait for it, or from `foldstep run`. */
export const GONE = `${WHO} (?:has gone|has given up the window|closed its stream|(?:has |had )?(?:ended|exited))`;

/** Others wait for it. */
export const AWAITED = `${WHO} (?:did not come|has not called|is stopped|is running)|(?:waits?|in vain) for WHO`;

/** It has or does something else than another, which is named too. */
export const APART = both('differ|is about to|accumulated|loaded|calls', 'WHO');

/** It has no memory left, or did not survive that. */
export const OUT_OF_MEMORY = both('OUT_OF_MEMORY|memory|SIG(?:ABRT|TRAP|SEGV|ILL)|exited', 'WHO');

export const killedBy = (signal: NodeJS.Signals): string => `WHO was killed by ${signal}`;

/** One line that holds one of the texts about the culprit. */
export function line(...texts: readonly string[]): (culprit: number) => RegExp {
  const text = texts.join('|');
  const before = '\\branks? (?:\\d+,? (?:and )?)*';
  const after = '\\b(?:,? (?:and )?\\d+)*';
  return (culprit) => new RegExp(text.replaceAll('WHO', before + culprit + after));
}

/** Both in one line, in any order. */
function both(one: string, other: string): string {
  return `^(?=.*(?:${one}))(?=.*(?:${other}))`;
}
