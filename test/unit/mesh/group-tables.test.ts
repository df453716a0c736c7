import { expect } from 'chai';
import { type GridName, Mesh } from '#lib/mesh/mesh.js';

// The known group tables of one pipeline stage, as published: `-` is an axis of size 1, where every rank is alone.
const TABLES: [world: number, tp: number, etp: number, ep: number, ...groups: string[]][] = [
  [4, 2, 1, 2, '01 23', '02 13', '-', '01 23', '02 13'],
  [4, 2, 1, 4, '01 23', '02 13', '-', '0123', 'singles'],
  [4, 1, 2, 2, '-', '0123', '01 23', '02 13', 'singles'],
  [8, 2, 1, 4, '01 23 45 67', '0246 1357', '-', '0123 4567', '04 15 26 37'],
  [8, 2, 2, 2, '01 23 45 67', '0246 1357', '01 23 45 67', '02 13 46 57', '04 15 26 37'],
  [8, 2, 2, 4, '01 23 45 67', '0246 1357', '01 23 45 67', '0246 1357', 'singles'],
  [8, 4, 2, 2, '0123 4567', '04 15 26 37', '01 23 45 67', '02 13 46 57', '04 15 26 37'],
  [8, 2, 4, 1, '01 23 45 67', '0246 1357', '0123 4567', 'singles', '04 15 26 37'],
];
const COLUMNS: [GridName, string][] = [
  ['dense', 'tp'],
  ['dense', 'dp'],
  ['expert', 'etp'],
  ['expert', 'ep'],
  ['expert', 'edp'],
];

/** Every distinct group along an axis, written like the tables above, in order of first rank. */
function groupsAlong(mesh: Mesh, grid: GridName, axis: string): string {
  const groups = new Set<string>();
  for (let rank = 0; rank < mesh.world; rank++)
    groups.add(mesh.grid(grid).group(rank, [axis]).ranks().join(''));
  return [...groups].join(' ');
}

describe('group tables', () => {
  for (const [world, tp, etp, ep, ...expected] of TABLES) {
    it(`world ${world}, tp ${tp}, etp ${etp}, ep ${ep} groups as published`, () => {
      const mesh = new Mesh({ world, tp, etp, ep });
      const singles = Array.from({ length: world }, (_, rank) => rank).join(' ');
      const actual = COLUMNS.map(([grid, axis]) => groupsAlong(mesh, grid, axis));
      expect(actual).to.deep.equal(expected.map((text) => (/-|singles/.test(text) ? singles : text)));
    });
  }

  it('a later pipeline stage has the first one shifted by its start', () => {
    const mesh = new Mesh({ world: 8, pp: 2, tp: 2, ep: 2 });
    // Stage 1 is ranks 4 to 7; the first stage's ep groups are 01 23.
    expect(groupsAlong(mesh, 'expert', 'ep')).to.equal('01 23 45 67');
    expect(mesh.grid('dense').group(6, ['dp']).ranks()).to.deep.equal([4, 6]);
    expect(mesh.stageOf(6)).to.equal(1);
    expect(mesh.stageStart(6)).to.equal(4);
  });

  it('native experts have ep 1 and the dense tensor lanes unless sized', () => {
    const mesh = new Mesh({ world: 8, tp: 2, ep: 4 });
    expect([mesh.nativeEtp, mesh.nativeEp, mesh.nativeEdp]).to.deep.equal([2, 1, 4]);
    expect(groupsAlong(mesh, 'native-expert', 'etp')).to.equal('01 23 45 67');
  });

  it('native experts take sizes of their own', () => {
    const mesh = new Mesh({ world: 8, tp: 2, ep: 8, native: { ep: 2, etp: 4 } });
    expect(groupsAlong(mesh, 'native-expert', 'etp')).to.equal('0123 4567');
    expect(groupsAlong(mesh, 'native-expert', 'ep')).to.equal('04 15 26 37');
  });
});
