import { expect } from 'chai';
import fc from 'fast-check';
import { countChoices, type Plan, planOf, shareOf } from '#lib/parallel/plan.js';

/** The choices of every member of an expert group, each with its own tokens. */
const groups = fc
  .record({ members: fc.integer({ min: 1, max: 5 }), each: fc.integer({ min: 1, max: 3 }) })
  .chain(({ members, each }) => {
    const experts = members * each;
    const own = fc.array(fc.nat(experts - 1), { maxLength: 9 });
    return fc.record({
      experts: fc.constant(experts),
      choices: fc.array(own, { minLength: members, maxLength: members }),
    });
  });

interface Row {
  readonly expert: number;
  readonly member: number;
  readonly assignment: number;
}

function plansOf(choices: readonly number[][], experts: number): Plan[] {
  const own = choices.map((list) => Int32Array.from(list));
  const counts = own.map((list) => countChoices(list, experts));
  return own.map((list, member) => planOf(list, counts, member));
}

/** By the definition: local experts in order, for each the members in order, for each its assignments in order. */
function rowsByDefinition(choices: readonly number[][], experts: number, member: number): Row[] {
  const { start, end } = shareOf(experts, member, choices.length);
  const rows: Row[] = [];
  for (let expert = start; expert < end; expert++) {
    for (const [source, list] of choices.entries()) {
      for (const [assignment, chosen] of list.entries()) {
        if (chosen === expert) rows.push({ expert, member: source, assignment });
      }
    }
  }
  return rows;
}

/** Every member's rows in the hands of the all-to-all, as the plans send and expect them. */
function rowsByPlan(choices: readonly number[][], plans: readonly Plan[], member: number): Row[] {
  const arrived = plans.flatMap(({ sendOrder, sendRows }, source) => {
    const before = sendRows.slice(0, member).reduce((a, b) => a + b, 0);
    const sent = sendOrder.subarray(before, before + sendRows[member]!);
    return [...sent].map((assignment) => ({
      expert: choices[source]![assignment]!,
      member: source,
      assignment,
    }));
  });
  return [...plans[member]!.computeOrder].map((place) => arrived[place]!);
}

describe('the plan of a routing', () => {
  it('brings every assignment to its expert, in the order of the definition', () => {
    fc.assert(
      fc.property(groups, ({ choices, experts }) => {
        const plans = plansOf(choices, experts);
        for (const member of choices.keys()) {
          expect(rowsByPlan(choices, plans, member)).to.deep.equal(
            rowsByDefinition(choices, experts, member),
          );
        }
      }),
    );
  });

  it('expects of every member what that one sends', () => {
    fc.assert(
      fc.property(groups, ({ choices, experts }) => {
        const plans = plansOf(choices, experts);
        for (const [m, { receiveRows }] of plans.entries()) {
          expect(receiveRows).to.deep.equal(plans.map(({ sendRows }) => sendRows[m]));
        }
      }),
    );
  });

  it('counts the rows of each expert of each member', () => {
    fc.assert(
      fc.property(groups, ({ choices, experts }) => {
        const counted = plansOf(choices, experts).flatMap(({ rowsPerExpert }) => rowsPerExpert);
        const all = choices.flat();
        expect(counted).to.deep.equal(
          Array.from({ length: experts }, (_, expert) => all.filter((chosen) => chosen === expert).length),
        );
      }),
    );
  });
});

describe('shares', () => {
  it('follow each other, cover the whole, and differ by one at most', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.integer({ min: 1, max: 20 }), (whole, shares) => {
        const all = Array.from({ length: shares }, (_, i) => shareOf(whole, i, shares));
        expect(all[0]!.start).to.equal(0);
        expect(all.at(-1)!.end).to.equal(whole);
        for (const [i, { end }] of all.slice(0, -1).entries()) expect(all[i + 1]!.start).to.equal(end);
        const lengths = all.map(({ start, end }) => end - start);
        expect(Math.max(...lengths) - Math.min(...lengths)).to.be.at.most(1);
      }),
    );
  });

  it('of 3 tokens over 4 lanes leave the first lane without', () => {
    expect([0, 1, 2, 3].map((lane) => shareOf(3, lane, 4))).to.deep.equal([
      { start: 0, end: 0 },
      { start: 0, end: 1 },
      { start: 1, end: 2 },
      { start: 2, end: 3 },
    ]);
  });
});
