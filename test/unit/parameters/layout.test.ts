import { expect } from 'chai';
import fc from 'fast-check';
import { Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import { FlatLayout } from '#lib/parameters/layout.js';
import { Parameter, type ParameterSpec } from '#lib/parameters/parameter.js';
import { logicalIndices, refusal, scenes } from './support.js';

function layout(specs: readonly ParameterSpec[], sizes: MeshSizes): FlatLayout {
  const mesh = new Mesh(sizes);
  return new FlatLayout(specs.map((spec) => new Parameter(spec, mesh)));
}

function denseOf(shapes: readonly (readonly number[])[], dp: number): FlatLayout {
  return layout(
    shapes.map((shape, i) => ({ name: `p${i}`, shape, family: 'dense' })),
    { world: dp },
  );
}

describe('flat layouts', () => {
  it('lay [8], [0], [24] over dp 2 at multiples of 128', () => {
    // [8] ends at 8; [0] starts at 128 and takes nothing, so [24] starts there too and ends at 152; 2 * 128 covers it.
    const [bucket] = denseOf([[8], [0], [24]], 2).buckets;
    expect(bucket!.entries.map(({ offset, size }) => [offset, size])).to.deep.equal([
      [0, 8],
      [128, 0],
      [128, 24],
    ]);
    expect(bucket!.length).to.equal(256);
    expect([0, 1].map((i) => bucket!.shard(i))).to.deep.equal([
      { start: 0, end: 128 },
      { start: 128, end: 256 },
    ]);
  });

  it('give seven of eight data ranks nothing but padding of [3]', () => {
    const [bucket] = denseOf([[3]], 8).buckets;
    expect(bucket!.length).to.equal(8 * 128);
    expect(bucket!.shard(7)).to.deep.equal({ start: 896, end: 1024 });
  });

  it('let a shard begin inside a parameter', () => {
    // 300 elements over dp 2: padded to 512, so shard 1 begins at element 256 of the parameter.
    const [bucket] = denseOf([[300]], 2).buckets;
    expect(bucket!.shard(1)).to.deep.equal({ start: 256, end: 512 });
  });

  it('of empty parameters alone have length 0 and empty shards', () => {
    const [bucket] = denseOf([[0], [4, 0]], 4).buckets;
    expect(bucket!.length).to.equal(0);
    expect(bucket!.shard(3)).to.deep.equal({ start: 0, end: 0 });
  });

  it('have no bucket without parameters', () => {
    expect(denseOf([], 2).buckets).to.deep.equal([]);
  });

  it('refuse a shard that is not there', () => {
    const [bucket] = denseOf([[3]], 2).buckets;
    expect(refusal(() => bucket!.shard(2)).code).to.equal('INVALID_ARGUMENT');
  });

  it('have one bucket per grid and correction, in order of first appearance', () => {
    const { buckets } = layout(
      [
        { name: 'gate', shape: [8], family: 'router' },
        { name: 'w1', shape: [4, 8], family: 'expert', partition: [{ axis: 'ep', dim: 0 }] },
        { name: 'norm', shape: [8], family: 'dense' },
        { name: 'native', shape: [4], family: 'native-expert' },
        { name: 'qkv', shape: [8], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 0 }] },
      ],
      { world: 8, tp: 2, ep: 4 },
    );
    expect(buckets.map(({ key, dataAxis, shards }) => [key, dataAxis, shards])).to.deep.equal([
      ['dense:average', 'dp', 4],
      ['expert:divide', 'edp', 2],
      ['native-expert:skip:etp', 'edp', 4],
      ['dense:skip', 'dp', 4],
    ]);
    expect(buckets[0]!.entries.map(({ parameter }) => parameter.name)).to.deep.equal(['gate', 'norm']);
    expect(buckets[1]!.entries[0]!.size).to.equal(8);
    expect(buckets[1]!.correction).to.deep.equal({ axes: [], scale: 1 / 2 });
    expect(buckets[1]!.dataReduction).to.deep.equal({ axes: ['edp'], scale: 1 / 4 });
  });

  it('are aligned, without overlap, and covered once by equal, aligned shards', () => {
    fc.assert(
      fc.property(scenes(), ({ parameters }) => {
        for (const bucket of new FlatLayout(parameters).buckets) {
          let end = 0;
          for (const { offset, size } of bucket.entries) {
            expect(offset % 128).to.equal(0);
            expect(offset).to.be.within(end, end + 127);
            end = offset + size;
          }
          let covered = 0;
          for (let i = 0; i < bucket.shards; i++) {
            const shard = bucket.shard(i);
            expect(shard.start).to.equal(covered);
            expect(shard.start % 128).to.equal(0);
            covered = shard.end;
          }
          expect(covered).to.equal(bucket.length);
          expect(bucket.length - end).to.be.within(0, 128 * bucket.shards - 1);
        }
      }),
    );
  });

  it('refuse two parameters of one name', () => {
    const dense = { name: 'w', shape: [1], family: 'dense' } as const;
    const error = refusal(() => layout([dense, dense], { world: 1 }));
    expect([error.code, error.parameter]).to.deep.equal(['DUPLICATE_NAME', 'w']);
  });

  it('refuse parameters of meshes that differ', () => {
    const on = (name: string, world: number) =>
      new Parameter({ name, shape: [1], family: 'dense' }, new Mesh({ world }));
    expect(refusal(() => new FlatLayout([on('a', 2), on('b', 4)])).code).to.equal('INVALID_ARGUMENT');
    expect(new FlatLayout([on('a', 2), on('b', 2)]).buckets.length).to.equal(1);
  });
});

describe('looking up a parameter', () => {
  const names = ['layers.0.gate.weight', 'layers.0.norm.weight'];
  const subject = layout(
    names.map((name) => ({ name, shape: [200], family: 'dense' })),
    { world: 1 },
  );

  it('finds its bucket and place', () => {
    const { bucket, entry } = subject.entry('layers.0.norm.weight');
    expect([bucket.key, entry.offset, entry.size]).to.deep.equal(['dense:average', 256, 200]);
  });

  it('suggests close names', () => {
    const error = refusal(() => subject.entry('layers.0.gate.wieght'));
    expect([error.code, error.parameter]).to.deep.equal(['UNKNOWN_PARAMETER', 'layers.0.gate.wieght']);
    expect(error.message).to.include('did you mean layers.0.gate.weight');
  });

  it('suggests nothing for a name unlike any', () => {
    expect(refusal(() => subject.entry('q')).message).not.to.include('did you mean');
  });
});

describe('fingerprints', () => {
  const specs: ParameterSpec[] = [
    {
      name: 'w1',
      shape: [8, 64],
      family: 'expert',
      partition: [{ axis: 'ep', dim: 0 }],
      normGroup: 'experts',
    },
    { name: 'scale', shape: [], family: 'dense' },
  ];
  const mesh = { world: 8, tp: 2, ep: 2 };

  it('are a line per parameter in order', () => {
    expect(layout(specs, mesh).fingerprint()).to.equal(
      'w1|8x64|expert|ep:0|divide|experts\nscale||dense||average|',
    );
  });

  it('tell another order', () => {
    expect(layout([...specs].reverse(), mesh).fingerprint()).not.to.equal(layout(specs, mesh).fingerprint());
  });

  it('tell sequence parallelism on one rank from none on another', () => {
    const spec: ParameterSpec = { name: 'n', shape: [4], family: 'sequence-norm' };
    const [on, off] = [true, false].map((sequenceParallel) =>
      new FlatLayout([new Parameter(spec, new Mesh(mesh), { sequenceParallel })]).fingerprint(),
    );
    expect(on).not.to.equal(off);
  });

  it('keep a name with separators in its own field', () => {
    const named = (name: string) => layout([{ name, shape: [1], family: 'dense' }], mesh).fingerprint();
    expect(named('a|b\n')).to.equal('a\\|b\\n|1|dense||average|');
  });
});

describe('ownership', () => {
  for (const zeroSharded of [false, true]) {
    it(`every logical element has exactly one owner in its stage, ${zeroSharded ? 'ZeRO-sharded' : 'unsharded'}`, () => {
      fc.assert(
        fc.property(scenes(), fc.nat(), ({ mesh, parameters }, seed) => {
          const flat = new FlatLayout(parameters);
          const first = (seed % mesh.pp) * mesh.stage;
          for (const parameter of parameters) {
            const owners = new Uint32Array(parameter.logicalSize);
            const { bucket, entry } = flat.entry(parameter.name);
            for (let rank = first; rank < first + mesh.stage; rank++) {
              if (!parameter.isOwner(rank, zeroSharded)) continue;
              const shard = bucket.shard(bucket.grid.coordinate(rank, bucket.dataAxis));
              for (const [local, index] of logicalIndices(parameter, rank).entries()) {
                const place = entry.offset + local;
                const held = !zeroSharded || (place >= shard.start && place < shard.end);
                if (held) owners[index]! += 1;
              }
            }
            expect(owners.every((count) => count === 1)).to.equal(true);
          }
        }),
        { numRuns: 300 },
      );
    });
  }

  it('is spread over shards that cut a parameter', () => {
    // 300 elements on dp 4: 3 shards of 128 hold 128, 128, 44 of them; padding fills the rest.
    const flat = denseOf([[300]], 4);
    const { bucket, entry } = flat.entry('p0');
    const counts = [0, 1, 2, 3].map((rank) => {
      const { start, end } = bucket.shard(bucket.grid.coordinate(rank, 'dp'));
      return Math.max(0, Math.min(end, entry.offset + entry.size) - Math.max(start, entry.offset));
    });
    expect(counts).to.deep.equal([128, 128, 44, 0]);
  });
});
