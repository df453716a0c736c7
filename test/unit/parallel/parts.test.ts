import { expect } from 'chai';
import fc from 'fast-check';
import type { FoldstepError } from '#lib/errors.js';
import { Parts } from '#lib/parallel/parts.js';

const lists = fc.array(fc.nat(6), { minLength: 1, maxLength: 5 });
const partOf = (member: number, length: number) =>
  Float32Array.from({ length }, (_, i) => 10 * member + i + 1);

function codeOf(action: () => void): string {
  try {
    action();
  } catch (error) {
    return (error as FoldstepError).code;
  }
  return 'none';
}

describe('parts of differing lengths in equal shards', () => {
  it('come out as they went in, whatever the layout held before', () => {
    fc.assert(
      fc.property(lists, (counts) => {
        const parts = new Parts(counts);
        const layout = new Float32Array(parts.length).fill(Number.NaN);
        for (const [member, count] of counts.entries()) {
          parts.write(layout, member, member, partOf(member, count));
        }
        for (const [member, count] of counts.entries()) {
          expect(parts.read(layout, member)).to.deep.equal(partOf(member, count));
        }
      }),
    );
  });

  it('tell every two lists of one shard length apart, also after a sum over all members', () => {
    const others = fc.tuple(lists, lists).filter(([a, b]) => a.length === b.length && a.join() !== b.join());
    fc.assert(
      fc.property(others, ([counts, strange]) => {
        const [mine, theirs] = [new Parts(counts), new Parts(strange)];
        fc.pre(mine.shardLength === theirs.shardLength);
        const worldRanks = counts.map((_, member) => member);
        // The last member has the other list; shard 0 is summed as a reduceScatter sums it.
        const summed = new Float32Array(mine.length);
        for (const author of counts.keys()) {
          const layout = new Float32Array(mine.length);
          const parts = author === counts.length - 1 ? theirs : mine;
          parts.write(layout, 0, author, new Float32Array(parts.counts[0]!));
          for (const [i, value] of layout.entries()) summed[i]! += value;
        }
        const codes = worldRanks.map((author) => codeOf(() => mine.check(summed, 0, author, worldRanks, 0)));
        expect(codes).to.deep.equal(
          worldRanks.map((author) => (author === counts.length - 1 ? 'OPERATION_MISMATCH' : 'none')),
        );
      }),
    );
  });
});
