import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { importsOf } from './graph.js';

const EXAMPLE = 'examples/glm4-moe/';
const manifest = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
  exports: Record<string, unknown>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

/** What others may import of this package, such as `foldstep/parallel`. */
const ENTRY_POINTS = Object.keys(manifest.exports).map((entry) => entry.replace(/^\./, 'foldstep'));
const PACKAGES = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });

describe('the imports of the GLM4-MoE example', () => {
  const imports = importsOf('examples/tsconfig.json').filter(({ importer }) => importer.startsWith(EXAMPLE));

  it('are found', () => {
    expect(imports.map(({ specifier }) => specifier))
      .to.include('foldstep')
      .and.to.include('./config.ts');
  });

  it('are its own files, public entry points of foldstep, and packages, so that it can be copied out', () => {
    const inside = ({ specifier, file }: (typeof imports)[number]): boolean => {
      if (specifier.startsWith('.')) return file.startsWith(EXAMPLE);
      if (/^foldstep\b/.test(specifier)) return ENTRY_POINTS.includes(specifier);
      return PACKAGES.some((name) => specifier === name || specifier.startsWith(`${name}/`));
    };
    const others = imports.filter((each) => !inside(each));
    expect(others.map(({ importer, specifier }) => `${importer} imports ${specifier}`)).to.deep.equal([]);
  });
});
