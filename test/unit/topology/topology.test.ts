import { expect } from 'chai';
import fc from 'fast-check';
import { Mesh } from '#lib/mesh/mesh.js';
import { topologySVG } from '#lib/topology/svg.js';
import { describeTopology, groupNumber, topologyText } from '#lib/topology/topology.js';
import { meshSizes } from '../mesh/support.js';

const MILLION = { world: 1_000_000, pp: 10, tp: 8, ep: 250 };

/** How many times a pattern occurs. */
function count(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

describe('topology tables', () => {
  it('list every group of a small world', () => {
    const { grids } = describeTopology(new Mesh({ world: 8, tp: 2, ep: 4 }));
    const edp = grids.find(({ name }) => name === 'expert')!.axes[2];
    expect(edp).to.deep.equal({
      name: 'edp',
      size: 2,
      stride: 4,
      groupCount: 4,
      groups: [
        [0, 4],
        [1, 5],
        [2, 6],
        [3, 7],
      ],
      elided: false,
    });
  });

  it('hold each rank once per axis, as Grid.group has it, and survive JSON', () => {
    fc.assert(
      fc.property(meshSizes(), (sizes) => {
        const mesh = new Mesh(sizes);
        const topology = describeTopology(mesh, { groups: mesh.world, ranks: mesh.world });
        expect(JSON.parse(JSON.stringify(topology))).to.deep.equal(topology);
        for (const { name, axes } of topology.grids) {
          for (const axis of axes) {
            expect(axis.groups.flat().sort((a, b) => a - b)).to.deep.equal([...Array(mesh.world).keys()]);
            for (const [number, ranks] of axis.groups.entries()) {
              expect(mesh.grid(name).group(ranks[0]!, [axis.name]).ranks()).to.deep.equal(ranks);
              for (const rank of ranks) expect(groupNumber(rank, axis)).to.equal(number);
            }
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it('of a million ranks list some groups and say how many there are', () => {
    const { grids } = describeTopology(new Mesh(MILLION), { groups: 2, ranks: 3 });
    // Ten stages of 100000 ranks, 8 tensor lanes in each: 80 dp groups of 12500.
    expect(grids[0]!.axes[1]).to.deep.equal({
      name: 'dp',
      size: 12_500,
      stride: 8,
      groupCount: 80,
      groups: [
        [0, 8, 16],
        [1, 9, 17],
      ],
      elided: true,
    });
  });
});

describe('topology text', () => {
  it('is a line per axis', () => {
    expect(topologyText(new Mesh({ world: 4, tp: 2, ep: 2 }))).to.equal(
      `world 4 = pp 1 x stage 4

dense
  tp 2  0 1 | 2 3
  dp 2  0 2 | 1 3

expert
  etp 1  every rank alone
  ep 2   0 1 | 2 3
  edp 2  0 2 | 1 3

native-expert
  etp 2  0 1 | 2 3
  ep 1   every rank alone
  edp 2  0 2 | 1 3
`,
    );
  });

  it('of a million ranks is cut short', () => {
    const text = topologyText(new Mesh(MILLION));
    expect(text)
      .to.include('0 8 16 24')
      .and.to.include('... (12500 ranks)')
      .and.to.include('... (80 groups)');
    expect(Math.max(...text.split('\n').map((line) => line.length))).to.be.below(300);
  });
});

describe('topology picture', () => {
  it('has a cell for each rank in each of the eight axes, and two in the legend', () => {
    const svg = topologySVG(new Mesh({ world: 12, pp: 2, tp: 3 }));
    expect(count(svg, /class="rank"/g)).to.equal(12 * 8 + 2);
    expect(count(svg, /class="stage"/g)).to.equal(2 * 8);
  });

  it('numbers the groups of an axis', () => {
    // tp groups 01 23: ranks 2 and 3 are of group 1. Its dp group is 02 13.
    const svg = topologySVG(new Mesh({ world: 4, tp: 2 }));
    const [tpPanel, dpPanel] = svg.split('class="axis"').slice(1, 3);
    expect([...tpPanel!.matchAll(/>g(\d)</g)].map((hit) => hit[1]).join('')).to.equal('0011');
    expect([...dpPanel!.matchAll(/>g(\d)</g)].map((hit) => hit[1]).join('')).to.equal('0101');
  });

  it('of a larger world shows 64 ranks and says so', () => {
    const svg = topologySVG(new Mesh(MILLION));
    expect(count(svg, /class="rank"/g)).to.equal(64 * 8 + 2);
    expect(svg).to.include('64 of 1000000 ranks');
  });

  it('keeps every cell inside the page, and no two in one place', () => {
    fc.assert(
      fc.property(meshSizes(70), (sizes) => {
        const svg = topologySVG(new Mesh(sizes));
        const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(svg)!.map(Number);
        const panels = svg.split(/<g transform="translate\(/).slice(1);
        let [left, top] = [0, 0];
        for (const [i, panel] of panels.entries()) {
          const [x, y] = /^(\d+) (\d+)/.exec(panel)!.slice(1).map(Number);
          [left, top] = i % 2 === 0 ? [x!, y!] : [left + x!, top + y!];
          if (i % 2 === 0) continue;
          const cells = [
            ...panel.split('class="rule"')[0]!.matchAll(/<rect class="(?:h\d+|alone)" x="(\d+)" y="(\d+)"/g),
          ];
          const places = new Set(cells.map((cell) => `${cell[1]} ${cell[2]}`));
          expect(places.size).to.equal(cells.length).and.to.be.above(0);
          for (const cell of cells) {
            expect(left + Number(cell[1]) + 36).to.be.below(width!);
            expect(top + Number(cell[2]) + 36).to.be.below(height!);
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  it('follows the colour scheme and needs nothing from outside', () => {
    const svg = topologySVG(new Mesh({ world: 2 }));
    expect(svg).to.include('prefers-color-scheme:dark');
    expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', '')).not.to.match(/https?:|href|url\(/);
  });
});
