import { expect } from 'chai';
import { type CostRow, costOf, costsOf, normCostOf } from '#lib/bench/mesh/cost.js';
import { heapOfMembership } from '#lib/bench/mesh/groups.js';
import { WORLDS } from '#lib/bench/mesh/worlds.js';
import { Mesh } from '#lib/mesh/mesh.js';

describe('the cost model of worlds', () => {
  const total = ({ microbatch, step }: CostRow): number => microbatch.bytes + step.bytes;

  it('has every ZeRO stage of every world, and the paths in shared memory where one node holds all', async () => {
    for (const sizes of WORLDS) {
      const rows = await costsOf(new Mesh(sizes));
      const paths =
        sizes.world === 8
          ? ['auto', 'direct', 'owner', 'exchange', 'library']
          : ['auto', 'exchange', 'library'];
      expect(rows.map(({ zeroStage, path }) => `${zeroStage} ${path}`)).to.deep.equal(
        [0, 1, 2].flatMap((stage) => paths.map((path) => `${stage} ${path}`)),
      );
    }
  });

  it('moves no more on exchange than on library, with at most 2 MiB to spare; and never more off the node than in all', async () => {
    for (const sizes of WORLDS) {
      const rows = await costsOf(new Mesh(sizes));
      const exchanges = rows.filter(({ path }) => path === 'exchange');
      const libraries = rows.filter(({ path }) => path === 'library');
      for (const [i, exchange] of exchanges.entries()) {
        expect(total(exchange)).to.be.at.most(total(libraries[i]!) * 1.0001);
        for (const { temporaryBytes } of [exchange.microbatch, exchange.step])
          expect(temporaryBytes).to.be.at.most(2 ** 21);
      }
      for (const { microbatch, step } of rows) {
        for (const traffic of [microbatch, step])
          expect(traffic.bytesBetweenNodes).to.be.within(0, traffic.bytes);
      }
    }
  });

  it('sends no message where all is shared memory', async () => {
    for (const { path, microbatch, step } of await costsOf(new Mesh(WORLDS[0]!))) {
      const silent = path === 'auto' || path === 'direct' || path === 'owner';
      expect(microbatch.messages + step.messages === 0, path).to.equal(silent);
    }
  });

  it('counts what two lanes give each other to the byte', async () => {
    const mesh = new Mesh({ world: 2, tp: 2 });
    const corrected = 4096 + 128 * 4096;
    const bytes = async (path: 'direct' | 'owner' | 'exchange' | 'library') =>
      (await costOf(mesh, 1, 0, path)).microbatch.bytes;
    expect(await bytes('direct')).to.equal(2 * corrected);
    expect(await bytes('owner')).to.equal(3 * corrected);
    expect(await bytes('exchange')).to.equal(3 * corrected);
    expect(await bytes('library')).to.equal(4 * corrected);
  });

  it('costs an unsharded world nothing to gather, and a world of one nothing at all', async () => {
    const alone = await costOf(new Mesh({ world: 1 }), 0, 2, 'auto');
    const nothing = { bytes: 0, bytesBetweenNodes: 0, messages: 0, temporaryBytes: 0 };
    expect([alone.microbatch, alone.step]).to.deep.equal([nothing, nothing]);
    expect(normCostOf(new Mesh({ world: 1 }))).to.deep.equal(nothing);
  });

  it('keeps the groups of a rank in memory that does not grow with the world', () => {
    const [first, last] = [heapOfMembership(WORLDS[0]!), heapOfMembership(WORLDS.at(-1)!)];
    expect(last).to.be.at.most(65_536);
    expect(last).to.be.at.most(first + 16_384);
  });
});
