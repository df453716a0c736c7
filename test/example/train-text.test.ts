import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { declarationText, fileText, splitText } from '../../examples/glm4-moe/train/text.js';
import { refusal } from '../unit/device/support.js';

describe('the text to train on', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'foldstep-text-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('is by default more than 2 MB of declarations, the same at every call', () => {
    const text = declarationText();
    expect(text.length).to.be.above(2e6);
    const words = Buffer.from(text).toString();
    expect(words).to.contain('interface HTMLElement').and.to.contain('interface Array<T>');
    expect(words).not.to.contain('interface WorkerGlobalScope extends EventTarget');
    expect(Buffer.compare(text, declarationText())).to.equal(0);
  });

  it('is asked for with --text where no TypeScript is installed', async () => {
    const { message } = await refusal('INVALID_ARGUMENT', () => declarationText(join(folder, 'module.js')));
    expect(message).to.contain('--text FILE').and.to.contain(folder);
  });

  it('may be any file, byte for byte', async () => {
    writeFileSync(join(folder, 'bytes'), Uint8Array.of(0, 200, 255));
    expect([...fileText(join(folder, 'bytes'))]).to.deep.equal([0, 200, 255]);
    const missing = await refusal('INVALID_ARGUMENT', () => fileText(join(folder, 'none')));
    expect(missing.message).to.contain(join(folder, 'none'));
    writeFileSync(join(folder, 'empty'), '');
    await refusal('INVALID_ARGUMENT', () => fileText(join(folder, 'empty')));
  });

  it('is held out in its last twentieth', () => {
    const { train, heldOut } = splitText(Uint8Array.from({ length: 205 }, (_, i) => i));
    // 5 % of 205 is 10.25.
    expect([train.length, heldOut.length]).to.deep.equal([195, 10]);
    expect(heldOut[0]).to.equal(195);
  });
});
