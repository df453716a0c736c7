/** A run of rows, tokens or experts: from `start` up to `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Share number `index` of `whole` things that `shares` divide as evenly as can be, in order. */
export function shareOf(whole: number, index: number, shares: number): Span {
  return { start: Math.floor((index * whole) / shares), end: Math.floor(((index + 1) * whole) / shares) };
}

export function lengthOf({ start, end }: Span): number {
  return end - start;
}

/** How many assignments go to each expert: `choices` are expert indices below `experts`. */
export function countChoices(choices: Int32Array, experts: number): Int32Array {
  const counts = new Int32Array(experts);
  for (const expert of choices) counts[expert]! += 1;
  return counts;
}

/**
 * The way of one rank's rows to experts and back. An assignment is one (token, choice) pair, numbered token by token; rows
 * leave by expert, then assignment, so by member too, whose experts are contiguous; they arrive by member, then expert,
 * and are computed by expert, then member.
 */
export interface Plan {
  /** Assignment of each row that leaves. */
  readonly sendOrder: Int32Array;
  /** Rows that leave for each member of the expert group. */
  readonly sendRows: readonly number[];
  /** Rows that arrive from each. */
  readonly receiveRows: readonly number[];
  /** Place on arrival of each row that is computed. */
  readonly computeOrder: Int32Array;
  /** Rows that each of this member's experts computes. */
  readonly rowsPerExpert: readonly number[];
}

/**
 * `choices`: of this rank's own assignments. `counts[m][e]`: assignments of member m of the expert group to expert e; row
 * `member` is this rank's own. The members divide the experts evenly.
 */
export function planOf(choices: Int32Array, counts: readonly Int32Array[], member: number): Plan {
  const members = counts.length;
  const experts = counts[member]!.length;
  const local = shareOf(experts, member, members);
  const rows = (of: Int32Array, { start, end }: Span) =>
    of.subarray(start, end).reduce((total, count) => total + count, 0);
  return {
    sendOrder: orderByExpert(choices, counts[member]!),
    sendRows: counts.map((_, m) => rows(counts[member]!, shareOf(experts, m, members))),
    receiveRows: counts.map((theirs) => rows(theirs, local)),
    computeOrder: orderForExperts(counts, local),
    rowsPerExpert: Array.from({ length: lengthOf(local) }, (_, i) =>
      counts.reduce((total, theirs) => total + theirs[local.start + i]!, 0),
    ),
  };
}

/** Assignments by expert, then in their own order. */
function orderByExpert(choices: Int32Array, counts: Int32Array): Int32Array {
  const next = startsOf(counts);
  const order = new Int32Array(choices.length);
  for (const [assignment, expert] of choices.entries()) order[next[expert]!++] = assignment;
  return order;
}

/** Rows that arrived by member, then expert, taken by expert, then member. */
function orderForExperts(counts: readonly Int32Array[], local: Span): Int32Array {
  const blocks = counts.flatMap((theirs) => [...theirs.subarray(local.start, local.end)]);
  const starts = startsOf(blocks);
  const order = new Int32Array(blocks.reduce((total, rows) => total + rows, 0));
  const experts = lengthOf(local);
  let next = 0;
  for (let expert = 0; expert < experts; expert++) {
    for (let block = expert; block < blocks.length; block += experts) {
      for (let i = 0; i < blocks[block]!; i++) order[next++] = starts[block]! + i;
    }
  }
  return order;
}

/** Where each of some runs begins, which lie one after the other. */
export function startsOf(counts: ArrayLike<number>): Int32Array {
  const starts = new Int32Array(counts.length);
  for (let i = 1; i < counts.length; i++) starts[i] = starts[i - 1]! + counts[i - 1]!;
  return starts;
}
