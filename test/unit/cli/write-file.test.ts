import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkWritable } from '#lib/cli/write-file.js';
import { FoldstepError } from '#lib/errors.js';
import { Scratch } from '../replay/files.js';

describe('a file that a command will write', () => {
  const scratch = new Scratch();
  after(() => scratch.remove());

  it('is checked without making anything, also through a link to nothing', () => {
    symlinkSync('target', join(scratch.folder, 'link'));
    checkWritable('--report', join(scratch.folder, 'report.html'));
    checkWritable('--report', join(scratch.folder, 'link'));
    expect(readdirSync(scratch.folder)).to.deep.equal(['link']);
  });

  it('is refused where it has no place, also at the end of a link', () => {
    symlinkSync('absent/report.html', join(scratch.folder, 'astray'));
    for (const name of ['absent/report.html', 'astray', '.', 'bell\u0007/report.html']) {
      expect(() => checkWritable('--report', join(scratch.folder, name)))
        .to.throw(FoldstepError, /^--report: [^\p{Cc}]* cannot be written: [^\p{Cc}]*$/u)
        .with.property('code', 'INVALID_ARGUMENT');
    }
  });
});
