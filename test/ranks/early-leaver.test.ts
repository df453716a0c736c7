import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { foldstep } from '../support/job.js';

describe('a rank that ends well too early', () => {
  it('is named at once by those who wait for it, not at the deadline', async () => {
    const program = fileURLToPath(new URL('./programs/early-leaver.js', import.meta.url));
    const { code, stderr } = await foldstep(['run', '-n', '2', program]);
    expect(code).to.equal(1);
    expect(stderr)
      .to.include('PEER_EXITED')
      .and.match(/rank 1 has (given up the window|gone)/);
    expect(stderr).to.not.include('DEADLINE_EXCEEDED');
  });
});
