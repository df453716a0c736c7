import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../../../', import.meta.url));

describe('the packed package', () => {
  let directory: string;
  let files: string[];
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'foldstep-pack-'));
    const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', directory], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [{ filename, files: listed }] = JSON.parse(packed) as [
      { filename: string; files: { path: string }[] },
    ];
    files = listed.map(({ path }) => path);
    execFileSync('tar', ['-xzf', join(directory, filename), '-C', directory]);
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  it('holds what a build needs, the types, and no binding.gyp that would start one unasked', () => {
    for (const file of [
      'CMakeLists.txt',
      'LICENSE',
      'dist/index.js',
      'dist/index.d.ts',
      'native/addon/module.cpp',
      'scripts/build-native.mjs',
    ]) {
      expect(files).to.include(file);
    }
    expect(files.filter((file) => /^(test|build|binding\.gyp)/.test(file))).to.deep.equal([]);
  });

  it('can be imported where nothing is built, and a native call says how to build', () => {
    const script = `
      import { init, Mesh } from ${JSON.stringify(join(directory, 'package/dist/index.js'))};
      const { dp } = new Mesh({ world: 8, tp: 2 });
      const { code, message } = await init().catch((error) => error);
      console.log(JSON.stringify({ dp, code, message }));`;
    const { dp, code, message } = JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
    ) as Record<string, unknown>;
    expect(dp).to.equal(4);
    expect(code).to.equal('ADDON_NOT_BUILT');
    expect(message).to.include('npm run build:native').and.include('apt-get install');
  });
});
