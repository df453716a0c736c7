import { expect } from 'chai';
import fc from 'fast-check';
import { GRID_NAMES, Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import { meshSizes, refusal } from './support.js';

describe('groups of a mesh', () => {
  const anyAxes = fc.infiniteStream(fc.boolean());

  it('tile the world: each rank is in exactly one group of each set of axes', () => {
    fc.assert(
      fc.property(meshSizes(), fc.constantFrom(...GRID_NAMES), anyAxes, (sizes, name, coin) => {
        const mesh = new Mesh(sizes);
        const grid = mesh.grid(name);
        const axes = grid.axes.map((axis) => axis.name).filter(() => coin.next().value);
        const seen = new Map<number, string>();
        for (let rank = 0; rank < mesh.world; rank++) {
          const group = grid.group(rank, axes);
          const ranks = group.ranks();
          expect(ranks).to.deep.equal([...ranks].sort((a, b) => a - b));
          expect(ranks[group.index]).to.equal(rank);
          for (const member of ranks) {
            // Whoever names a rank must name the same group for it.
            expect(seen.get(member) ?? ranks.join()).to.equal(ranks.join());
            seen.set(member, ranks.join());
          }
        }
        expect(seen.size).to.equal(mesh.world);
      }),
      { numRuns: 60 },
    );
  });

  it('answer indexOf and at as inverses, and -1 for everyone else', () => {
    fc.assert(
      fc.property(
        meshSizes(),
        fc.constantFrom(...GRID_NAMES),
        anyAxes,
        fc.nat(),
        (sizes, name, coin, seed) => {
          const mesh = new Mesh(sizes);
          const grid = mesh.grid(name);
          const group = grid.group(
            seed % mesh.world,
            grid.axes.map((axis) => axis.name).filter(() => coin.next().value),
          );
          const ranks = group.ranks();
          for (let rank = -2; rank < mesh.world + 2; rank++) {
            expect(group.indexOf(rank)).to.equal(ranks.indexOf(rank));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('of no axes are the rank alone', () => {
    expect(new Mesh({ world: 4, tp: 2 }).grid('dense').group(3, []).ranks()).to.deep.equal([3]);
  });

  it('do not depend on the order in which axes are named', () => {
    const grid = new Mesh({ world: 16, etp: 2, ep: 2 }).grid('expert');
    expect(grid.group(5, ['edp', 'etp']).ranks()).to.deep.equal([0, 1, 4, 5, 8, 9, 12, 13]);
    expect(grid.group(5, ['etp', 'edp']).ranks()).to.deep.equal([0, 1, 4, 5, 8, 9, 12, 13]);
  });

  it('of one rank of a million come without a table of the world', () => {
    const mesh = new Mesh({ world: 1_000_000, pp: 10, tp: 8, ep: 250 });
    const start = performance.now();
    for (let i = 0; i < 10_000; i++) mesh.grid('dense').group(999_999 - i, ['dp']);
    const microseconds = ((performance.now() - start) * 1000) / 10_000;
    const group = mesh.grid('dense').group(999_999, ['dp']);
    // The last stage starts at 900000; its last tensor lane is 7, and dp = 100000 / 8.
    expect([group.size, group.index, group.at(0), group.at(12_499)]).to.deep.equal([
      12_500, 12_499, 900_007, 999_999,
    ]);
    // Typically below 1; a table of the world would take thousands.
    expect(microseconds).to.be.below(200);
  });

  it('refuse a member that is not there', () => {
    const group = new Mesh({ world: 4, tp: 2 }).grid('dense').group(0, ['tp']);
    expect(refusal(() => group.at(2)).code).to.equal('INVALID_ARGUMENT');
  });
});

describe('coordinates', () => {
  it('count the leftmost axis fastest', () => {
    const grid = new Mesh({ world: 8, etp: 2, ep: 2 }).grid('expert');
    // 6 = 0 * 1 + 1 * 2 + 1 * 4
    expect(grid.coordinates(6)).to.deep.equal({ etp: 0, ep: 1, edp: 1 });
    expect(grid.coordinate(6, 'ep')).to.equal(1);
  });

  it('refuse an axis of another grid, naming those there are', () => {
    const error = refusal(() => new Mesh({ world: 4 }).grid('dense').coordinate(0, 'ep'));
    expect(error.code).to.equal('UNKNOWN_AXIS');
    expect(error.message).to.include('tp, dp');
  });

  for (const rank of [-1, 4, 0.5, Number.NaN]) {
    it(`refuse rank ${rank} of a world of 4`, () => {
      const grid = new Mesh({ world: 4 }).grid('dense');
      expect(refusal(() => grid.coordinates(rank)).code).to.equal('INVALID_ARGUMENT');
      expect(refusal(() => grid.group(rank, ['tp'])).code).to.equal('INVALID_ARGUMENT');
      expect(refusal(() => new Mesh({ world: 4 }).stageOf(rank)).code).to.equal('INVALID_ARGUMENT');
    });
  }

  it('refuse an axis named twice', () => {
    const grid = new Mesh({ world: 4 }).grid('dense');
    expect(refusal(() => grid.group(0, ['tp', 'tp'])).code).to.equal('INVALID_ARGUMENT');
  });
});

describe('mesh sizes', () => {
  // What is refused, and the fitting sizes that its message must name.
  const refused: [MeshSizes, string][] = [
    [{ world: 0 }, 'from 1 to 2147483647'],
    [{ world: 2.5 }, 'from 1 to 2147483647'],
    [{ world: 2 ** 31 }, 'from 1 to 2147483647'],
    [{ world: 8, pp: 3 }, 'pp may be 1, 2, 4, 8'],
    [{ world: 8, tp: 0 }, 'tp may be 1, 2, 4, 8'],
    [{ world: 8, tp: 1.5 }, 'tp may be 1, 2, 4, 8'],
    [{ world: 8, tp: Number.NaN }, 'tp may be 1, 2, 4, 8'],
    [{ world: 8, pp: 2, tp: 8 }, 'tp may be 1, 2, 4'],
    [{ world: 12, etp: 5 }, 'etp may be 1, 2, 3, 4, 6, 12'],
    [{ world: 12, etp: 2, ep: 4 }, 'ep may be 1, 2, 3, 6'],
    [{ world: 12, tp: 2, native: { ep: 4 } }, 'native.ep may be 1, 2, 3, 6'],
    [{ world: 12, native: { etp: 7 } }, 'native.etp may be 1, 2, 3, 4, 6, 12'],
  ];
  for (const [sizes, fitting] of refused) {
    const shown = JSON.stringify(sizes).replace('null', 'NaN');
    it(`${shown} is refused: ${fitting}`, () => {
      const error = refusal(() => new Mesh(sizes));
      expect(error.code).to.equal('INVALID_MESH');
      expect(error.message).to.match(new RegExp(`${fitting}$`));
    });
  }

  it('of a world with very many divisors are suggested near the one asked for', () => {
    // 720720 = 2^4 * 3^2 * 5 * 7 * 11 * 13 has 5 * 3 * 2^4 = 240 divisors; 15 and 16 are the nearest to 17.
    const { message } = refusal(() => new Mesh({ world: 720_720, tp: 17 }));
    expect(message).to.include('15, 16').and.to.include('240 divisors');
  });

  it('may let an expert group span tensor lanes: ep need not divide dp', () => {
    const mesh = new Mesh({ world: 8, tp: 4, ep: 4 });
    expect([mesh.dp, mesh.edp]).to.deep.equal([2, 2]);
  });

  it('that are misspelt are refused', () => {
    const sizes = { world: 8, TP: 2 } as MeshSizes;
    expect(refusal(() => new Mesh(sizes)).message).to.include('world, pp, tp, etp, ep, native');
  });

  it('multiply up to the stage on every grid', () => {
    fc.assert(
      fc.property(meshSizes(), (sizes) => {
        const mesh = new Mesh(sizes);
        for (const name of GRID_NAMES) {
          const product = mesh.grid(name).axes.reduce((ranks, axis) => ranks * axis.size, 1);
          expect(product * mesh.pp).to.equal(mesh.world);
        }
      }),
    );
  });

  it('survive JSON', () => {
    const mesh = new Mesh({ world: 16, pp: 2, tp: 2, ep: 4, native: { ep: 2 } });
    expect(new Mesh(JSON.parse(JSON.stringify(mesh))).describe()).to.equal(mesh.describe());
  });

  it('are described in one line', () => {
    expect(new Mesh({ world: 8, tp: 2, ep: 4 }).describe()).to.equal(
      'world 8 = pp 1 x stage 8; dense tp 2 x dp 4; expert etp 1 x ep 4 x edp 2; native-expert etp 2 x ep 1 x edp 4',
    );
  });
});
