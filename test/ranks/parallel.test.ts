import { expect } from 'chai';
import { bits32 } from '../support/fold.js';
import { job, type Outcome, values } from '../support/job.js';
import { LENGTHS, partsOf, uneven } from './scenarios/parallel-four.js';
import { CASES, EXPERTS, MESHES } from './scenarios/parallel-support.js';

type ByMesh<T> = Record<string, T>;
type Folded = ByMesh<Record<string, { folded: number[]; direct: number[]; rows: number[] }>>;
type Products = ByMesh<Record<string, Record<string, [number, number]>>>;
type Sums = Record<number, { whole: number[]; part: number[] }>;

describe('models over four ranks', () => {
  let together: Record<string, Outcome[]>;
  let apart: Record<string, Outcome[]>;
  const places = { 'one node': () => together, 'two nodes': () => apart };

  before(async () => {
    together = await job(4, 'parallel-four');
    apart = await job(4, 'parallel-nodes-four');
  });

  describe('experts folded over four ranks', () => {
    it('are owned in contiguous runs, by the members of each expert group', () => {
      const local = (mesh: string) =>
        values<ByMesh<{ local: { start: number } }>>(together['owners']).map(
          (owned) => owned[mesh]!.local.start,
        );
      expect(local('tp2 ep2')).to.deep.equal([0, 4, 0, 4]);
      expect(local('tp4 ep2')).to.deep.equal([0, 4, 0, 4]);
      expect(local('tp2 ep4')).to.deep.equal([0, 2, 4, 6]);
      expect(local('tp1 ep4')).to.deep.equal([0, 2, 4, 6]);
    });

    for (const [where, from] of Object.entries(places)) {
      for (const mesh of Object.keys(MESHES)) {
        for (const name of Object.keys(CASES)) {
          it(`give what they give in one place: ${mesh} on ${where}, ${name}`, () => {
            for (const results of values<Folded>(from()['foldedAndDirect'])) {
              const { folded, direct } = results[mesh]![name]!;
              expect(folded).to.deep.equal(direct);
            }
          });

          it(`have backward passes that are adjoint: ${mesh} on ${where}, ${name}`, () => {
            const parts = values<Products>(from()['innerProducts']).map((results) => results[mesh]![name]!);
            for (const map of ['dispatch', 'collect', 'restore']) {
              const total = (side: 0 | 1) => parts.reduce((sum, part) => sum + part[map]![side], 0);
              expect(total(0), map).to.equal(total(1));
              // 0 would show nothing where there are tokens.
              if (CASES[name]!.tokens > 0) expect(total(0), map).not.to.equal(0);
            }
          });
        }
      }
    }

    it('leave ranks without rows, and count every assignment once in each expert group', () => {
      const rows = (mesh: string, name: string) =>
        values<Folded>(together['foldedAndDirect']).map((results) => results[mesh]![name]!.rows);
      // Two data ranks of 12 tokens, or four, or one; experts 0 and 1 on the first member.
      expect(rows('tp2 ep4', 'two experts for all')).to.deep.equal([
        [24, 24],
        [0, 0],
        [0, 0],
        [0, 0],
      ]);
      expect(rows('tp1 ep4', 'two experts for all')).to.deep.equal([
        [48, 48],
        [0, 0],
        [0, 0],
        [0, 0],
      ]);
      expect(rows('tp4 ep2', 'two experts for all')).to.deep.equal([
        [6, 6, 0, 0],
        [0, 0, 0, 0],
        [6, 6, 0, 0],
        [0, 0, 0, 0],
      ]);
      expect(rows('tp4 ep2', 'no tokens').flat()).to.deep.equal(Array(2 * EXPERTS).fill(0));
    });

    it('allocate nothing on the device once a loop has gone round', () => {
      for (const loops of values<ByMesh<{ first: number; later: number }>>(together['allocationsOfALoop'])) {
        for (const { first, later } of Object.values(loops)) {
          expect(first).to.be.above(0);
          expect(later).to.equal(0);
        }
      }
    });
  });

  describe('the collectives of a group of four ranks', () => {
    /** FP32 additions in rank order. */
    function inRankOrder(length: number): number[] {
      const sum = uneven(length, 0);
      for (let rank = 1; rank < 4; rank++) {
        for (const [i, value] of uneven(length, rank).entries()) sum[i]! += value;
      }
      return bits32(sum);
    }

    for (const [where, from] of Object.entries(places)) {
      for (const length of LENGTHS) {
        it(`add ${length} numbers in rank order, to the same bits on every rank of ${where}`, () => {
          const expected = inRankOrder(length);
          const [first, , third] = partsOf(length);
          const parts = [expected.slice(0, first), [], expected.slice(length - third), []];
          for (const [rank, results] of values<Sums>(from()['sums']).entries()) {
            expect(results[length]!.whole).to.deep.equal(expected);
            expect(results[length]!.part).to.deep.equal(parts[rank]);
          }
        });
      }
    }

    it('gather parts of differing lengths in member order', () => {
      for (const all of values<number[]>(together['gathered'])) {
        expect(all).to.deep.equal([0, 1, 2, 20, 21, 22, 23, 24, 30]);
      }
    });

    it('bring every member what the others sent it, in member order', () => {
      // To rank r come (s + r) mod 3 numbers from rank s.
      expect(values(together['sentToAll'])).to.deep.equal([
        [10, 20, 20],
        [1, 11, 11, 31],
        [2, 2, 22, 32, 32],
        [13, 23, 23],
      ]);
    });
  });
});
