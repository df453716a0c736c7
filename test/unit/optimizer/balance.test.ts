import { expect } from 'chai';
import fc from 'fast-check';
import { Balance, type Claim, isBalanced, WORDS } from '#lib/optimizer/balance.js';

/** The words of all ranks, summed as an all-reduce does. */
function sumsOf(ranks: readonly (readonly Claim[])[]): Float64Array {
  const sums = new Float64Array(WORDS);
  for (const claims of ranks) {
    const { words } = new Balance().addAll(claims);
    for (let word = 0; word < WORDS; word++) sums[word]! += words[word]!;
  }
  return sums;
}

/** What the members of one group claim. */
function group(about: string, values: readonly string[]): Claim[] {
  return values.map((value, index) => ({ about, members: values.length, index, value }));
}

describe('a balance of claims', () => {
  const balanced = (...groups: Claim[][]) => isBalanced(sumsOf(groups.flat().map((claim) => [claim])));

  it('is even where the members of a group say the same, and uneven where one of them does not', () => {
    expect(balanced(group('a', ['x', 'x', 'x']))).to.equal(true);
    for (const values of [
      ['y', 'x', 'x'],
      ['x', 'y', 'x'],
      ['x', 'y', 'z'],
    ]) {
      expect(balanced(group('a', values)), values.join()).to.equal(false);
    }
  });

  it('is uneven where two groups differ by the same in opposite ways', () => {
    expect(balanced(group('a', ['x', 'y']), group('b', ['y', 'x']))).to.equal(false);
  });

  it('does not lose a difference to the number of members', () => {
    // Were words counted modulo 2^22, the 2^20 others of the first would leave two of its 22 bits.
    const members = 2 ** 20 + 1;
    const first = { about: 'a', members, index: 0, value: 'y' };
    const other = new Balance().addAll([{ about: 'a', members, index: 1, value: 'x' }]).words;
    const own = new Balance().addAll([first]).words;
    expect(isBalanced(own.map((word, i) => word + (members - 1) * other[i]!))).to.equal(false);
    const agreed = new Balance().addAll([{ ...first, value: 'x' }]).words;
    expect(isBalanced(agreed.map((word, i) => word + (members - 1) * other[i]!))).to.equal(true);
  });

  it('is even exactly where every group agrees, whatever the groups and whoever holds which claim', () => {
    const groups = fc.array(fc.array(fc.constantFrom('x', 'y'), { minLength: 1, maxLength: 5 }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(groups, fc.infiniteStream(fc.nat(3)), (values, places) => {
        const ranks: Claim[][] = [[], [], [], []];
        for (const claim of values.flatMap((members, i) => group(`group ${i}`, members))) {
          ranks[places.next().value]!.push(claim);
        }
        const agree = values.every((members) => new Set(members).size === 1);
        expect(isBalanced(sumsOf(ranks))).to.equal(agree);
      }),
    );
  });
});
