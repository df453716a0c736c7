import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { foldstep } from '../support/job.js';
import { Scratch } from '../unit/replay/files.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

describe("the README's first example", function () {
  this.timeout(120_000);
  const scratch = new Scratch();
  after(() => scratch.remove());
  const [, example] = /```js\n([\s\S]*?)```/.exec(readFileSync(`${root}README.md`, 'utf8'))!;

  it('is short', () => {
    expect(example!.trimEnd().split('\n')).to.have.length.at.most(15);
  });

  it('prints on every rank what the README says', async () => {
    // The square root of 8448 elements that are 1.
    const line = `norm of the gradient: ${Math.sqrt(8448)}`;
    expect(line).to.include('91.91300234460846');
    const source = example!.replace("from 'foldstep'", `from ${JSON.stringify(`${root}dist/index.js`)}`);
    const { code, stdout, stderr } = await foldstep(['run', '-n', '4', scratch.write('first.mjs', source)]);
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    expect(stdout.trim().split('\n')).to.deep.equal(Array.from({ length: 4 }, () => line));
  });
});
