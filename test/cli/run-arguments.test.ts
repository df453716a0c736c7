import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import fc from 'fast-check';
import { foldstep } from '../support/job.js';
import { shellCommand } from '../support/processes.js';
import { Scratch } from '../unit/replay/files.js';

const cli = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** What shells, launchers and option parsers give a meaning of its own. */
const MEANINGFUL = [
  ':',
  '',
  ' ',
  '-n',
  '-np',
  '--',
  '-',
  '--help',
  '--ranks=9',
  '$HOME',
  '$(id)',
  '`id`',
  "'",
  '"',
  '\\',
  '%',
  '%s',
  '*',
  '~',
  ';',
  '&&',
  '|',
  '\n',
  '\r\n',
  '\t',
  '\u001b[31m',
  'ü',
  '日本',
  '🧪',
  '#',
  '!',
];

/** Texts without the one character that no argument can hold. */
const anything = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.replaceAll('\0', '0'));
const argument = fc.oneof(
  fc.constantFrom(...MEANINGFUL),
  anything,
  fc.tuple(fc.constantFrom(...MEANINGFUL), anything).map((parts) => parts.join('')),
);

describe('the arguments of a script under foldstep run', function () {
  this.timeout(120_000);
  const scratch = new Scratch();
  // Each rank writes a file of its own: no line on a pipe is as long as many arguments are.
  const source = `import { writeFileSync } from 'node:fs';
const rank = process.env.OMPI_COMM_WORLD_RANK ?? '0';
writeFileSync(import.meta.dirname + '/seen-' + rank, JSON.stringify(process.argv.slice(1)));`;
  const script = scratch.write('arguments.mjs', source);
  after(() => scratch.remove());

  const seenBy = (rank: number, folder = scratch.folder): string[] =>
    JSON.parse(execFileSync('cat', [join(folder, `seen-${rank}`)], { encoding: 'utf8' })) as string[];

  for (const ranks of [1, 3]) {
    it(`reach each of ${ranks} unchanged, whatever they are`, async () => {
      const sent = [
        ...MEANINGFUL,
        ...fc.sample(argument, { numRuns: 2000, seed: ranks }),
        // More than any message of a socket holds.
        ...Array.from({ length: 4 }, () => 'x'.repeat(100_000)),
      ];
      const ended = await foldstep(['run', '-n', String(ranks), script, ...sent]);
      expect(ended).to.deep.equal({ code: 0, stdout: '', stderr: '' });
      for (let rank = 0; rank < ranks; rank++) expect(seenBy(rank)).to.deep.equal([script, ...sent]);
    });
  }

  it('are for a script of any name in any folder, run by a node of any name', async () => {
    const folder = join(scratch.folder, "it's : a $HOME");
    mkdirSync(folder);
    const node = join(folder, 'node of mine');
    copyFileSync(process.execPath, node);
    const name = '-n : %s.mjs';
    copyFileSync(script, join(folder, name));
    execFileSync(node, [cli, 'run', '-n', '2', '--', name, '--', ':'], { cwd: folder });
    expect(seenBy(1, folder)).to.deep.equal([join(folder, name), '--', ':']);
  });

  it('that are no UTF-8 are read as Node.js reads them', () => {
    const command = `${shellCommand('run', '-n', '2', script)} "$(printf 'a\\377b')"`;
    execFileSync('sh', ['-c', command]);
    expect(seenBy(1)).to.deep.equal([script, 'a\ufffdb']);
  });
});
