import { expect } from 'chai';
import { mutateCases } from '../../support/mutations/cases.js';
import { mutateHeaders } from '../../support/mutations/headers.js';
import { Scratch } from '../replay/files.js';

/** `scripts/mutate.mjs` takes more of them, and other seeds. */
const COUNT = 10_000;
const SEED = 10;

describe('files that were changed at random', () => {
  const scratch = new Scratch();
  after(() => scratch.remove());

  it('headers of safetensors are read as JSON says, or refused by a FoldstepError', () => {
    const { counts, faults } = mutateHeaders(scratch.folder, COUNT, SEED);
    expect(faults).to.deep.equal([]);
    // Both happen often: the mutations are neither harmless nor hopeless.
    expect(counts['read']).to.be.above(COUNT / 20);
    expect(counts['SAFETENSORS_INVALID']).to.be.above(COUNT / 2);
  });

  it('cases are read, or refused by a FoldstepError', () => {
    const { counts, faults } = mutateCases(scratch.folder, COUNT, SEED);
    expect(faults).to.deep.equal([]);
    expect(counts['read']).to.be.above(COUNT / 20);
    expect(counts['CASE_UNREADABLE']).to.be.above(COUNT / 4);
    expect(counts['SAFETENSORS_INVALID']).to.be.above(COUNT / 20);
  });
});
