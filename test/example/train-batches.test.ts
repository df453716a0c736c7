import { expect } from 'chai';
import fc from 'fast-check';
import { type BatchSizes, evaluationBatches, textBatches } from '../../examples/glm4-moe/train/batches.js';
import { philox, uniform } from '../../examples/glm4-moe/train/random.js';
import { refusal } from '../unit/device/support.js';

// Every pair of neighbours is another: a sequence tells where it was cut.
const text = Uint8Array.from({ length: 5000 }, (_, i) => (i % 2 === 0 ? i / 2 : (i - 1) / 512) & 0xff);
const single = { sequences: 24, length: 8, dataRanks: 1, dataRank: 0, microbatches: 1 };

/** The sequences of all data ranks and micro-batches, in the order of the step's. */
function globalBatch(sizes: BatchSizes, seed: number, step: number): number[][] {
  const all: number[][] = [];
  for (let dataRank = 0; dataRank < sizes.dataRanks; dataRank++) {
    const batches = textBatches(text, { ...sizes, dataRank }, seed);
    for (let microbatch = 0; microbatch < sizes.microbatches; microbatch++) {
      const { ids, sequences, length } = batches(step, microbatch);
      for (let i = 0; i < sequences; i++) all.push([...ids.subarray(i * length, (i + 1) * length)]);
    }
  }
  return all;
}

describe('batches of a text', () => {
  it('are the same for a step, however many data ranks and micro-batches share them', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 2, 3, 4),
        fc.constantFrom(1, 2),
        fc.nat(Number.MAX_SAFE_INTEGER),
        fc.integer({ min: 1, max: 1e6 }),
        (dataRanks, microbatches, seed, step) => {
          const shared = globalBatch({ ...single, dataRanks, microbatches }, seed, step);
          expect(shared).to.deep.equal(globalBatch(single, seed, step));
        },
      ),
    );
  });

  it('are runs of the text, and others at other steps and seeds', () => {
    const known = new Set(Array.from({ length: 4993 }, (_, at) => String(text.subarray(at, at + 8))));
    const [batch, laterStep, otherSeed] = [
      globalBatch(single, 1, 1),
      globalBatch(single, 1, 2),
      globalBatch(single, 2, 1),
    ];
    for (const sequence of batch) expect(known.has(String(sequence))).to.equal(true);
    expect(laterStep).not.to.deep.equal(batch);
    expect(otherSeed).not.to.deep.equal(batch);
    expect(new Set(batch.map(String)).size).to.be.above(20);
  });

  it('reach from the first byte to the last', () => {
    const short = text.subarray(0, 9);
    const batches = textBatches(short, single, 0);
    const found = new Set(
      [...batches(1, 0).ids.subarray(0, 24 * 8)].map((_, i, ids) =>
        String(ids.slice(i - (i % 8), i - (i % 8) + 8)),
      ),
    );
    expect(found).to.deep.equal(new Set([String(short.subarray(0, 8)), String(short.subarray(1, 9))]));
  });

  it('of an evaluation lie at equal distances from the first byte to the last', () => {
    const bytes = Uint8Array.from({ length: 100 }, (_, i) => i);
    // Starts from 0 to 98: three distances of 98 / 3, rounded down.
    const batches = evaluationBatches(bytes, { ...single, sequences: 4, length: 2, microbatches: 2 });
    expect(batches.map(({ ids }) => [...ids])).to.deep.equal([
      [0, 1, 32, 33],
      [65, 66, 98, 99],
    ]);
    const second = evaluationBatches(bytes, {
      ...single,
      sequences: 4,
      length: 2,
      dataRanks: 2,
      dataRank: 1,
    });
    expect(second.map(({ ids }) => [...ids])).to.deep.equal([[65, 66, 98, 99]]);
  });

  it('that do not divide are told with the sizes that would', async () => {
    const sizes = { ...single, sequences: 10, dataRanks: 4, microbatches: 2 };
    const { message } = await refusal('INVALID_ARGUMENT', () => textBatches(text, sizes, 0));
    expect(message).to.contain('10 sequences').and.to.contain('take 8 or 16');
    const few = await refusal('INVALID_ARGUMENT', () => textBatches(text, { ...sizes, sequences: 3 }, 0));
    expect(few.message).to.match(/take 8$/);
  });

  it('of a text shorter than a sequence are told with its length', async () => {
    const { message } = await refusal('INVALID_ARGUMENT', () => textBatches(text.subarray(0, 7), single, 0));
    expect(message).to.contain('7 bytes').and.to.contain('at most 7');
  });

  it('of sizes and seeds that are none are told', async () => {
    for (const wrong of [
      { sequences: 0 },
      { sequences: 1.5 },
      { length: 1 },
      { microbatches: 0 },
      { dataRanks: 0 },
      { dataRank: 1 },
      { dataRank: -1 },
    ]) {
      await refusal('INVALID_ARGUMENT', () => textBatches(text, { ...single, ...wrong }, 0));
    }
    for (const seed of [-1, 0.5, 2 ** 53]) {
      await refusal('INVALID_ARGUMENT', () => textBatches(text, single, seed));
    }
  });
});

describe('random numbers', () => {
  it("are Philox 4x32-10's: the known answers of its authors", () => {
    const all = 0xffffffff;
    expect(philox([0, 0, 0, 0], [0, 0])).to.deep.equal([0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
    expect(philox([all, all, all, all], [all, all])).to.deep.equal([
      0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd,
    ]);
    expect(philox([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0])).to.deep.equal([
      0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1,
    ]);
  });

  it('of [0, 1) spread evenly, and depend on every argument', () => {
    const numbers = Array.from({ length: 4096 }, (_, i) => uniform(3, 'batches', 1, i));
    const tenths = Array.from(
      { length: 10 },
      (_, k) => numbers.filter((x) => Math.floor(10 * x) === k).length,
    );
    // 410 on average, with a standard deviation of 19.
    for (const count of tenths) expect(count).to.be.within(310, 510);
    expect(new Set(numbers).size).to.equal(4096);
    const others = [
      uniform(4, 'batches', 1, 0),
      uniform(3 + 2 ** 32, 'batches', 1, 0),
      uniform(3, 'sampling', 1, 0),
      uniform(3, 'batches', 2, 0),
    ];
    for (const other of others) expect(other).not.to.equal(numbers[0]);
  });
});
