import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const root = new URL('../../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

describe('the README', () => {
  it('shows the example as it stands', () => {
    const [, shown] = /```js\n([\s\S]*?)```/.exec(read('README.md'))!;
    expect(shown).to.equal(read('examples/train.mjs'));
  });
});
