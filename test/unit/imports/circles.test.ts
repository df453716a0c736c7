import { expect } from 'chai';
import { circlesOf, graphOf, importsOf, readImports, wayAround } from './graph.js';

describe('the imports of lib', () => {
  it('have no circle', () => {
    const graph = graphOf(importsOf('tsconfig.json'), 'lib/');
    expect(graph.get('lib/index.ts')).to.include('lib/device/device.ts');
    expect(circlesOf(graph).map((circle) => wayAround(graph, circle))).to.deep.equal([]);
  });
});

describe('the search for circles', () => {
  const graphFrom = (imports: Record<string, readonly string[]>) => new Map(Object.entries(imports));

  it('finds none where imports go one way', () => {
    const graph = graphFrom({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] });
    expect(circlesOf(graph)).to.deep.equal([]);
  });

  it('finds each circle, and names the files in order of their imports', () => {
    const graph = graphFrom({ a: ['b'], b: ['d', 'c'], c: ['a'], d: [], e: ['f', 'd'], f: ['e'], g: ['g'] });
    const ways = circlesOf(graph).map((circle) => wayAround(graph, circle));
    expect(ways).to.have.members(['a -> b -> c -> a', 'e -> f -> e', 'g -> g']);
  });

  it('reads what the compiler tells', () => {
    const told = [
      'lib/a.ts',
      "   Matched by include pattern 'lib' in 'tsconfig.json'",
      'lib/b.ts',
      "   Imported via './b.js' from file 'lib/a.ts'",
      "   Imported via \"./b.js\" from file 'lib/c.ts' with packageId 'foldstep@0.1.0'",
      'lib/c.ts',
    ];
    expect(readImports(told.join('\n'))).to.deep.equal([
      { importer: 'lib/a.ts', specifier: './b.js', file: 'lib/b.ts' },
      { importer: 'lib/c.ts', specifier: './b.js', file: 'lib/b.ts' },
    ]);
  });
});
