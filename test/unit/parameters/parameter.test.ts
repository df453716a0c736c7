import { expect } from 'chai';
import fc from 'fast-check';
import { Mesh, type MeshSizes } from '#lib/mesh/mesh.js';
import { type Family, Parameter, type ParameterSpec } from '#lib/parameters/parameter.js';
import { logicalIndices, refusal, scenes } from './support.js';

const EIGHT: MeshSizes = { world: 8, tp: 2, ep: 2, etp: 2 };

function parameter(spec: Partial<ParameterSpec>, sizes: MeshSizes = EIGHT): Parameter {
  return new Parameter({ name: 'w', shape: [4, 8], family: 'dense', ...spec }, new Mesh(sizes));
}

const ep = { axis: 'ep', dim: 0 };
const etp = { axis: 'etp', dim: 1 };
const tp = { axis: 'tp', dim: 0 };

describe('copies and owners', () => {
  // Copy axes unsharded, copy axes ZeRO-sharded, and the owners among ranks 0..7 unsharded.
  // World 8, tp 2 (dp 4): tp = rank % 2, dp = rank / 2. etp 2, ep 2: etp = rank % 2, ep = rank / 2 % 2, edp = rank / 4.
  const rows: [string, Partial<ParameterSpec>, string[], string[], number[]][] = [
    ['dense', {}, ['tp', 'dp'], ['tp'], [0]],
    ['router', { family: 'router' }, ['tp', 'dp'], ['tp'], [0]],
    ['tensor-sharded', { family: 'tensor-sharded', partition: [tp] }, ['dp'], [], [0, 1]],
    ['an expert cut over ep and etp', { family: 'expert', partition: [ep, etp] }, ['edp'], [], [0, 1, 2, 3]],
    [
      'an expert cut over ep, copied over etp',
      { family: 'expert', partition: [ep] },
      ['etp', 'edp'],
      ['etp'],
      [0, 2],
    ],
  ];
  for (const [title, spec, unsharded, sharded, owners] of rows) {
    it(`${title} has copies over [${unsharded}], [${sharded}] when sharded, owners ${owners}`, () => {
      const subject = parameter(spec);
      expect(subject.copyAxes(false)).to.deep.equal(unsharded);
      expect(subject.copyAxes(true)).to.deep.equal(sharded);
      expect([0, 1, 2, 3, 4, 5, 6, 7].filter((rank) => subject.isOwner(rank, false))).to.deep.equal(owners);
    });
  }

  it('of a native expert are found on the native grid', () => {
    // tp 2, ep 2 on two ranks; native ep 1, etp 2: both ranks hold a shard of their own and both count it.
    const sizes = { world: 2, tp: 2, ep: 2 };
    const subject = parameter({ family: 'native-expert', partition: [{ axis: 'etp', dim: 0 }] }, sizes);
    expect([0, 1].map((rank) => subject.isOwner(rank, false))).to.deep.equal([true, true]);
  });

  it('are the same in every pipeline stage', () => {
    const subject = parameter({}, { world: 8, pp: 2, tp: 2 });
    expect([0, 1, 2, 3, 4, 5, 6, 7].filter((rank) => subject.isOwner(rank, false))).to.deep.equal([0, 4]);
  });
});

describe('reductions', () => {
  const half = { axes: ['tp'], scale: 1 / 2 };
  const rows: [Family, string, ParameterSpec['partition'], object, string][] = [
    ['dense', 'average', [], half, 'dp'],
    ['router', 'average', [], half, 'dp'],
    ['router-partial', 'sum', [], { axes: ['tp'], scale: 1 }, 'dp'],
    ['sequence-norm', 'average', [], half, 'dp'],
    ['tensor-sharded', 'skip', [tp], { axes: [], scale: 1 }, 'dp'],
    ['expert', 'divide', [ep, etp], { axes: [], scale: 1 / 2 }, 'edp'],
    ['native-expert', 'skip', [ep, etp], { axes: [], scale: 1 }, 'edp'],
  ];
  for (const [family, rule, partition, correction, dataAxis] of rows) {
    it(`of ${family}: ${rule} over tensor lanes, then a sum over ${dataAxis} by the dense dp`, () => {
      // dp = 8 / 2 = 4 whatever the grid: edp is 2 here and native edp 4.
      const subject = parameter({ family, partition: partition ?? [] });
      expect(subject.laneRule).to.equal(rule);
      expect(subject.correction).to.deep.equal(correction);
      expect(subject.dataReduction).to.deep.equal({ axes: [dataAxis], scale: 1 / 4 });
    });
  }

  it('average copies along every axis that no rule covers, and leave axes of size 1 out', () => {
    const correction = (family: Family, partition: ParameterSpec['partition'], sizes?: MeshSizes) =>
      parameter({ family, partition: partition ?? [] }, sizes).correction;
    // The lanes' tp of 2, times etp 2, times ep 2 where these hold copies.
    expect(correction('expert', [ep])).to.deep.equal({ axes: ['etp'], scale: 1 / 4 });
    expect(correction('expert', [etp])).to.deep.equal({ axes: ['ep'], scale: 1 / 4 });
    expect(correction('expert', [])).to.deep.equal({ axes: ['etp', 'ep'], scale: 1 / 8 });
    expect(correction('expert', [ep], { world: 8, tp: 2, ep: 4 })).to.deep.equal({ axes: [], scale: 1 / 2 });
    // A native grid has the etp of the dense tp, which is 2, unless it is given sizes of its own.
    expect(correction('native-expert', [])).to.deep.equal({ axes: ['etp'], scale: 1 / 2 });
    const native = { world: 12, native: { ep: 3, etp: 4 } };
    expect(correction('native-expert', [], native)).to.deep.equal({ axes: ['etp', 'ep'], scale: 1 / 12 });
  });

  it('of sequence-norm sum partial gradients under sequence parallelism', () => {
    const spec: ParameterSpec = { name: 'n', shape: [4], family: 'sequence-norm' };
    const subject = new Parameter(spec, new Mesh(EIGHT), { sequenceParallel: true });
    expect(subject.laneRule).to.equal('sum');
    expect(subject.correction).to.deep.equal({ axes: ['tp'], scale: 1 });
  });
});

describe('parts of a logical tensor', () => {
  const dense24 = Float32Array.from({ length: 24 }, (_, i) => i);

  it('are cut along the dimension of each axis', () => {
    // Rank 3 of etp 2, ep 2: etp 1, ep 1. Rows 2..3 and columns 3..5 of 4 x 6.
    const subject = parameter({ shape: [4, 6], family: 'expert', partition: [ep, etp] });
    expect(subject.localShape).to.deep.equal([2, 3]);
    expect(subject.localRange(3)).to.deep.equal([
      { start: 2, end: 4 },
      { start: 3, end: 6 },
    ]);
    expect([...subject.slice(3, dense24)]).to.deep.equal([15, 16, 17, 21, 22, 23]);
  });

  it('of a dimension cut twice have the first listed axis outside', () => {
    // Rank 1 has etp 1, ep 0; rank 2 has etp 0, ep 1. Cut over ep first: ep picks the half, etp the quarter in it.
    const outerEp = parameter({ shape: [8], family: 'expert', partition: [ep, { axis: 'etp', dim: 0 }] });
    expect([1, 2].map((rank) => outerEp.localRange(rank)[0]!.start)).to.deep.equal([2, 4]);
    const outerEtp = parameter({ shape: [8], family: 'expert', partition: [{ axis: 'etp', dim: 0 }, ep] });
    expect([1, 2].map((rank) => outerEtp.localRange(rank)[0]!.start)).to.deep.equal([4, 2]);
  });

  it('keep the element type, BF16 bits included', () => {
    const subject = parameter({ shape: [4], family: 'tensor-sharded', partition: [tp] });
    const part = subject.slice(1, Uint16Array.of(1, 2, 0x7fc0, 0x8000));
    expect(part).to.deep.equal(Uint16Array.of(0x7fc0, 0x8000));
  });

  it('are copies, also where nothing is cut', () => {
    const logical = Float64Array.of(1, 2);
    const part = parameter({ shape: [2] }).slice(0, logical);
    part[0] = 9;
    expect(logical[0]).to.equal(1);
  });

  it('of a scalar are the scalar', () => {
    const subject = parameter({ shape: [] });
    expect([subject.localSize, subject.logicalSize]).to.deep.equal([1, 1]);
    expect([...subject.slice(5, Float32Array.of(7))]).to.deep.equal([7]);
  });

  it('of a zero-sized tensor are empty, cut or not', () => {
    const subject = parameter({ shape: [0, 3], family: 'tensor-sharded', partition: [tp] });
    expect(subject.localSize).to.equal(0);
    expect(subject.slice(1, new Float32Array(0)).length).to.equal(0);
  });

  it('refuse a logical tensor of another length', () => {
    const error = refusal(() => parameter({ shape: [4] }).slice(0, new Float32Array(5)));
    expect([error.code, error.parameter]).to.deep.equal(['INVALID_LENGTH', 'w']);
  });

  it('of one owner each reassemble the logical tensor', () => {
    fc.assert(
      fc.property(scenes(), ({ mesh, parameters }) => {
        for (const subject of parameters) {
          const logical = Float64Array.from({ length: subject.logicalSize }, (_, i) => i + 1);
          const assembled = new Float64Array(subject.logicalSize);
          for (let rank = 0; rank < mesh.stage; rank++) {
            const part = subject.slice(rank, logical);
            expect(part.length).to.equal(subject.localSize);
            if (!subject.isOwner(rank, false)) continue;
            for (const [i, index] of logicalIndices(subject, rank).entries()) assembled[index]! += part[i]!;
          }
          expect(assembled).to.deep.equal(logical);
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('parameters that are refused', () => {
  const max = Number.MAX_SAFE_INTEGER;
  const rows: [string, Partial<ParameterSpec>, string, string][] = [
    [
      'an unknown family',
      { family: 'densely' as Family },
      'UNKNOWN_FAMILY',
      'tensor-sharded, expert, native-expert',
    ],
    ['a dense tensor cut over tp', { partition: [tp] }, 'INVALID_PARTITION', "'tensor-sharded'"],
    ['a router cut over tp', { family: 'router', partition: [tp] }, 'INVALID_PARTITION', "'tensor-sharded'"],
    ['a tensor-sharded tensor that is not cut', { family: 'tensor-sharded' }, 'INVALID_PARTITION', 'over tp'],
    ['a cut over dp', { partition: [{ axis: 'dp', dim: 0 }] }, 'INVALID_PARTITION', 'ZeRO'],
    [
      'a cut over edp',
      { family: 'expert', partition: [{ axis: 'edp', dim: 0 }] },
      'INVALID_PARTITION',
      'ZeRO',
    ],
    ['a dense tensor cut over ep', { partition: [ep] }, 'UNKNOWN_AXIS', 'tp, dp'],
    ['an expert cut over tp', { family: 'expert', partition: [tp] }, 'UNKNOWN_AXIS', 'etp, ep, edp'],
    [
      'an axis listed twice',
      { family: 'expert', partition: [ep, { axis: 'ep', dim: 1 }] },
      'INVALID_PARTITION',
      'twice',
    ],
    [
      'a dimension beyond the last',
      { family: 'expert', partition: [{ axis: 'ep', dim: 2 }] },
      'INVALID_PARTITION',
      '0 to 1',
    ],
    [
      'a negative dimension',
      { family: 'expert', partition: [{ axis: 'ep', dim: -1 }] },
      'INVALID_PARTITION',
      '0 to 1',
    ],
    ['a cut of a scalar', { shape: [], family: 'expert', partition: [ep] }, 'INVALID_PARTITION', 'scalar'],
    [
      'a size that does not divide',
      { shape: [5], family: 'expert', partition: [ep] },
      'INVALID_PARTITION',
      '4 and 6',
    ],
    [
      'a dimension cut twice that does not divide by both',
      { shape: [6], family: 'expert', partition: [ep, { axis: 'etp', dim: 0 }] },
      'INVALID_PARTITION',
      'ep = 2 * etp = 2; multiples of 4 fit, the nearest being 4 and 8',
    ],
    ['a negative size', { shape: [-1] }, 'INVALID_SHAPE', '-1'],
    ['a fractional size', { shape: [1.5] }, 'INVALID_SHAPE', '1.5'],
    ['too many elements', { shape: [max, 2] }, 'INVALID_SHAPE', String(max)],
    ['an empty name', { name: '' }, 'INVALID_ARGUMENT', 'name'],
    ['a name that is no text', { name: 7 as unknown as string }, 'INVALID_ARGUMENT', 'name'],
    ['a missing name', { name: undefined as unknown as string }, 'INVALID_ARGUMENT', 'name'],
    ['an empty norm group', { normGroup: '' }, 'INVALID_ARGUMENT', 'normGroup'],
  ];
  for (const [title, spec, code, text] of rows) {
    it(`${title}: ${code}`, () => {
      const error = refusal(() => parameter(spec));
      expect(error.code).to.equal(code);
      expect(error.message).to.include(text);
      expect(error.parameter).to.equal(String('name' in spec ? spec.name : 'w'));
    });
  }

  it('do not include a cut over an axis of size 1', () => {
    const subject = parameter({ shape: [3], family: 'tensor-sharded', partition: [tp] }, { world: 4 });
    expect(subject.localShape).to.deep.equal([3]);
  });

  it('do not include an empty tensor whose other sizes are huge', () => {
    expect(parameter({ shape: [max, max, 0] }).logicalSize).to.equal(0);
  });
});
