import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { foldstep } from '../support/job.js';

describe('a rank that is stopped', () => {
  const program = fileURLToPath(new URL('./programs/stopping.js', import.meta.url));

  for (const [what, name] of [
    ['collective', 'a collective'],
    ['split', 'the split of a communicator'],
    ['create', 'the creation of an optimizer'],
    ['messages', 'messages between lanes'],
    ['turns', 'turns in shared memory'],
  ] as const) {
    it(`is named with its process at the deadline of ${name}, and the job ends`, async () => {
      const { code, stdout, stderr } = await foldstep(['run', '-n', '2', program, what]);
      expect(code).to.equal(1);
      expect(stderr)
        .to.include('DEADLINE_EXCEEDED')
        .and.include(`rank 1 (process ${stdout.trim()}) is stopped`)
        .and.match(/peer: 1\b/);
    });
  }
});
