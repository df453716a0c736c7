import { expect } from 'chai';
import { Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import { Parameter, type ParameterSpec } from '#lib/parameters/parameter.js';

/** Values of a logical tensor beside its spec. */
type Valued = Omit<ParameterSpec, 'name'> & { values: number[] };

/** Sum of |x|^p over what each rank of the world owns of its part, as a norm adds it up. */
function sumOfOwned(sizes: MeshSizes, tensors: readonly Valued[], p: number): number {
  const mesh = new Mesh(sizes);
  let sum = 0;
  for (const [i, { values, ...spec }] of tensors.entries()) {
    const parameter = new Parameter({ name: `p${i}`, ...spec }, mesh);
    for (let rank = 0; rank < mesh.world; rank++) {
      if (!parameter.isOwner(rank, false)) continue;
      for (const value of parameter.slice(rank, Float64Array.from(values))) sum += Math.abs(value) ** p;
    }
  }
  return sum;
}

describe('a norm over owned elements', () => {
  const ep = { axis: 'ep', dim: 0 };
  const everyFamily: Valued[] = [
    { shape: [1], family: 'dense', values: [1] },
    { shape: [2], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 0 }], values: [1, 2] },
    { shape: [2, 2], family: 'expert', partition: [ep, { axis: 'etp', dim: 1 }], values: [10, 11, 20, 21] },
    { shape: [2, 1], family: 'expert', partition: [ep], values: [1, 2] },
  ];

  for (const sizes of [
    { world: 8, tp: 2, ep: 2, etp: 2 },
    { world: 8, tp: 1, ep: 2, etp: 1 },
    { world: 4, tp: 2, ep: 2, etp: 1 },
  ]) {
    it(`of every family on ${JSON.stringify(sizes)} is 32.7566787`, () => {
      // 1 + (1 + 4) + (100 + 121 + 400 + 441) + (1 + 4) = 1073, whatever the sharding.
      expect(Math.sqrt(sumOfOwned(sizes, everyFamily, 2))).to.be.closeTo(32.7566787, 1e-7);
      expect(sumOfOwned(sizes, everyFamily, 1)).to.equal(69);
    });
  }

  it('counts a replicated parameter once though its experts span the tensor lanes', () => {
    // tp 2, ep 2, dp 1: dense 1 and one expert scalar of 1 per rank: sqrt(1 + 1 + 1).
    const experts: Valued = { shape: [2], family: 'expert', partition: [ep], values: [1, 1] };
    const dense: Valued = { shape: [1], family: 'dense', values: [1] };
    expect(sumOfOwned({ world: 2, tp: 2, ep: 2 }, [dense, experts], 2)).to.equal(3);
  });

  it('adds native shards 3 and 4 and a folded expert of 12 on lane 1 to 13', () => {
    const native: Valued = {
      shape: [2],
      family: 'native-expert',
      partition: [{ axis: 'etp', dim: 0 }],
      values: [3, 4],
    };
    const folded: Valued = { shape: [2], family: 'expert', partition: [ep], values: [0, 12] };
    expect(sumOfOwned({ world: 2, tp: 2, ep: 2 }, [native], 2)).to.equal(25);
    expect(sumOfOwned({ world: 2, tp: 2, ep: 2 }, [native, folded], 2)).to.equal(169);
  });
});
