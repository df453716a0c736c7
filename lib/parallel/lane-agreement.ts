import { FoldstepError } from '../errors.js';
import { choicesOf, type RoutingRecord } from './choices.js';
import type { GroupCollectives } from './collectives.js';

/** Ranks of one group of lanes whose choices are not the same. */
interface Disagreement {
  readonly first: number;
  readonly other: number;
}

/**
 * Throws ROUTING_DIFFERS on every rank of the block unless each group of `lanes.size` neighbours in it chose the same.
 * Lanes that differ themselves name the token; for that they exchange their `choices`, all of them or none.
 */
export async function requireSameChoices(
  lanes: GroupCollectives,
  block: readonly number[],
  records: ReadonlyMap<number, RoutingRecord>,
  choices: Int32Array,
): Promise<void> {
  const self = lanes.worldRanks[lanes.rank]!;
  const own = findDisagreement(lanes.worldRanks, records);
  if (own) {
    const what = sameShape(lanes.worldRanks, records)
      ? await firstDifference(lanes, choices, records.get(self)!.topK)
      : shapes(own, records);
    throw refusal(self, own, what);
  }
  for (let at = 0; at < block.length; at += lanes.size) {
    const others = findDisagreement(block.slice(at, at + lanes.size), records);
    if (others)
      throw refusal(self, others, `rank ${others.first} and rank ${others.other} chose differently`);
  }
}

function findDisagreement(
  group: readonly number[],
  records: ReadonlyMap<number, RoutingRecord>,
): Disagreement | undefined {
  const first = group[0]!;
  const other = group.find((rank) => !records.get(rank)!.sameChoices(records.get(first)!));
  return other === undefined ? undefined : { first, other };
}

function sameShape(group: readonly number[], records: ReadonlyMap<number, RoutingRecord>): boolean {
  return group.every((rank) => records.get(rank)!.sameShape(records.get(group[0]!)!));
}

function shapes({ first, other }: Disagreement, records: ReadonlyMap<number, RoutingRecord>): string {
  const shape = (rank: number) => {
    const { tokens, topK } = records.get(rank)!;
    return `rank ${rank} has ${tokens} tokens with ${topK} choices each`;
  };
  return `${shape(first)}, ${shape(other)}`;
}

/** Collective over the lanes. */
async function firstDifference(lanes: GroupCollectives, choices: Int32Array, topK: number): Promise<string> {
  const { length } = choices;
  const bits = new Float32Array(choices.buffer, choices.byteOffset, length);
  const gathered = await lanes.allGather(
    bits,
    lanes.worldRanks.map(() => length),
  );
  const all = new Int32Array(gathered.buffer);
  for (let i = 0; i < length; i++) {
    const lane = lanes.worldRanks.findIndex((_, member) => all[member * length + i] !== all[i]);
    if (lane < 0) continue;
    const token = Math.floor(i / topK);
    const chosen = (member: number) =>
      `rank ${lanes.worldRanks[member]} chose [${choicesOf(all.subarray(member * length), token, topK)}]`;
    return `token ${token}: ${chosen(0)}, ${chosen(lane)}`;
  }
  throw new FoldstepError('INTERNAL', 'choices with different digests are the same');
}

function refusal(rank: number, { first, other }: Disagreement, what: string): FoldstepError {
  return new FoldstepError(
    'ROUTING_DIFFERS',
    `the lanes route tokens differently: ${what}; route by what is the same on every lane, in bits: the sum of an allReduce, or one lane's choices sent to the others`,
    { rank, peer: rank === first ? other : first },
  );
}
