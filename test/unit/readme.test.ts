import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { trainCommand } from '../../examples/glm4-moe/options.js';

const root = new URL('../../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');
const filesUnder = (folder: string, pattern: RegExp) =>
  readdirSync(fileURLToPath(new URL(folder, root)), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name));

describe('the README', () => {
  it('shows the example as it stands', () => {
    const [, shown] = /```js\n([\s\S]*?)```/.exec(read('docs/training.md'))!;
    expect(shown).to.equal(read('examples/train.mjs'));
  });

  it('has every environment variable that foldstep, its build and its set-up read in its table, and no other', () => {
    const sources = [
      ...['lib', 'native'].flatMap((folder) => filesUnder(folder, /\.(?:ts|[ch]pp|cuh?)$/)),
      ...['build-native.mjs', 'get-nccl.mjs', 'setup.sh'].map((file) => `scripts/${file}`),
    ];
    // process.env['X'] in JavaScript, a string in C++, ${X:-} in the shell
    const known = sources.flatMap((file) =>
      [...read(file).matchAll(/process\.env\['(FOLDSTEP_\w+)'\]|"(FOLDSTEP_\w+)"|\$\{(FOLDSTEP_\w+)/g)].map(
        ([, script, native, shell]) => script ?? native ?? shell,
      ),
    );
    const rows = [...read('docs/environment.md').matchAll(/^\| `(FOLDSTEP_\w+)` \|/gm)].map(
      ([, name]) => name,
    );
    expect(rows).to.have.members([...new Set(known)]);
  });
});

describe('the guide to the GLM4-MoE example', () => {
  const guide = read('examples/glm4-moe/README.md');

  it('gives the training command only options and values that it has', () => {
    const commands = [...guide.matchAll(/^.*glm4-moe\/train\.js (.*)$/gm)].map(([, options]) => options!);
    expect(commands).to.have.length.above(9);
    for (const options of commands) {
      const parts = options.match(/"[^"]*"|\S+/g)!.map((part) => part.replaceAll('"', ''));
      const command = trainCommand();
      command.parse(parts, { from: 'user' });
      expect(command.args, options).to.deep.equal([]);
    }
  });

  it('names options that there are', () => {
    const known = new Set(trainCommand().options.map(({ long }) => long));
    for (const own of ['--help', '--world']) known.add(own);
    for (const [option] of guide.matchAll(/--[a-z][a-z-]*/g)) expect([...known]).to.include(option);
  });

  it('links to files that there are', () => {
    const folder = new URL('examples/glm4-moe/', root);
    const links = [...guide.matchAll(/\]\((?!https:)([^)]*)\)/g)].map(([, link]) => link!);
    for (const link of links) expect(existsSync(new URL(link, folder)), link).to.equal(true);
  });
});

describe('the pages', () => {
  it('link to files that there are', () => {
    const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'bench/NOTES.md'];
    for (const page of [...pages, ...filesUnder('docs', /\.md$/)]) {
      for (const [, link] of read(page).matchAll(/\]\((?!https:)([^)#]*)[^)]*\)/g)) {
        if (link === '') continue;
        expect(existsSync(new URL(link!, new URL(page, root))), `${link} in ${page}`).to.equal(true);
      }
    }
  });
});
