import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { run } from '../support/job.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

describe('the example in a folder of its own', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldstep-copied-'));
    cpSync(join(root, 'build/examples/glm4-moe'), folder, { recursive: true });
    cpSync(join(root, 'examples/glm4-moe/small'), join(folder, 'small'), { recursive: true });
    // As npm would install foldstep and the packages that the example needs.
    const modules = join(folder, 'node_modules');
    mkdirSync(modules);
    for (const name of readdirSync(join(root, 'node_modules')).filter((each) => !each.startsWith('.'))) {
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
    symlinkSync(root, join(modules, 'foldstep'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('trains, and draws its curves', async () => {
    const page = join(folder, 'curves.html');
    const options = ['--steps', '1', '--sample', '0', '--plot', page];
    const { code, stderr } = await run([join(folder, 'train.js'), ...options]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(readFileSync(page, 'utf8')).to.contain('<svg');
  });
});
