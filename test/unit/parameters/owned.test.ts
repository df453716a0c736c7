import { expect } from 'chai';
import { Mesh } from '#lib/mesh/mesh.js';
import { FlatLayout } from '#lib/parameters/layout.js';
import { stretchesOf } from '#lib/parameters/owned.js';
import { Parameter, type ParameterSpec } from '#lib/parameters/parameter.js';
import { Placement, type ZeroStage } from '#lib/parameters/placement.js';

/** Two data ranks; each parameter begins at a multiple of 128 elements, and the bucket has 512. */
const SPECS: ParameterSpec[] = [
  { name: 'a', shape: [100], family: 'dense' },
  { name: 'b', shape: [200], family: 'dense' },
  { name: 'none', shape: [0], family: 'dense' },
  { name: 'c', shape: [3], family: 'dense', normGroup: 'other' },
];

function placementOf(rank: number, zeroStage: ZeroStage): Placement {
  const mesh = new Mesh({ world: 2 });
  return new Placement(new FlatLayout(SPECS.map((spec) => new Parameter(spec, mesh))), rank, zeroStage);
}

describe('the part of a parameter that a rank updates', () => {
  it('is all of it where nothing is sharded', () => {
    const { offset, length, master, accumulator, weight } = placementOf(1, 0).ownedOf('b');
    const found = { offset, length, master, accumulator, weight };
    expect(found).to.deep.equal({ offset: 0, length: 200, master: 128, accumulator: 128, weight: 128 });
  });

  it('is what lies in the shard, from where this begins', () => {
    for (const [zeroStage, accumulator] of [
      [1, 256],
      [2, 0],
    ] as const) {
      const { range, offset, length, master, ...rest } = placementOf(1, zeroStage).ownedOf('b');
      expect({ range, offset, length }).to.deep.equal({
        range: { start: 256, end: 328 },
        offset: 128,
        length: 72,
      });
      const places = { master, accumulator: rest.accumulator, weight: rest.weight };
      expect(places).to.deep.equal({ master: 0, accumulator, weight: 256 });
    }
  });

  it('is empty outside the shard, and of a parameter without elements', () => {
    for (const [rank, name, offset] of [
      [1, 'a', 100],
      [0, 'c', 0],
      [0, 'none', 0],
    ] as const) {
      const { offset: found, length, master, accumulator, weight } = placementOf(rank, 2).ownedOf(name);
      const places = { found, length, master, accumulator, weight };
      expect(places).to.deep.equal({ found: offset, length: 0, master: 0, accumulator: 0, weight: 0 });
    }
  });

  it('is listed parameter by parameter, without the empty ones', () => {
    const runs = [...placementOf(1, 2).ownedRuns()].map(({ entry, length }) => [
      entry.parameter.name,
      length,
    ]);
    expect(runs).to.deep.equal([
      ['b', 72],
      ['c', 3],
    ]);
  });

  it('is joined with its neighbours where they have one key, with the padding between them', () => {
    const runs = placementOf(0, 0).ownedRuns();
    expect(stretchesOf(runs, ({ normGroup }) => normGroup ?? 'default')).to.deep.equal([
      { length: 328, master: 0, accumulator: 0, weight: 0, key: 'default' },
      { length: 3, master: 384, accumulator: 384, weight: 384, key: 'other' },
    ]);
  });
});
