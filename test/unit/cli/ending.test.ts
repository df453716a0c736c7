import { expect } from 'chai';
import { describeEnding, endingOf } from '#lib/launch/ending.js';
import { parseEvent } from '#lib/launch/events.js';

/** How the job ends that a supervisor reports so. */
const after = (...reports: string[]) => endingOf(reports.map(parseEvent));

describe('how a job ended', () => {
  it('is well if every rank and the launcher ended with 0', () => {
    expect(after('rank 1 own exit 0', 'rank 0 own exit 0', 'launcher exit 0')).to.deep.equal({ code: 0 });
  });

  it('is that of the first rank that failed, not of those that the launcher then ended', () => {
    const reports = [
      'rank 3 own signal 9',
      'rank 0 asked signal 15',
      'rank 1 asked lost',
      'launcher exit 137',
    ];
    expect(describeEnding(after(...reports))).to.equal(
      'rank 3 was killed by SIGKILL; the job ended with exit code 137 (SIGKILL)',
    );
    expect(describeEnding(after('rank 2 own exit 3', 'rank 0 own exit 1', 'launcher exit 1'))).to.equal(
      'rank 2 exited with code 3; the job ended with exit code 3',
    );
  });

  it('names a killed rank too where another was seen to fail before it', () => {
    const { code, reason } = after('rank 0 own exit 1', 'rank 2 own signal 11', 'launcher exit 1');
    expect({ code, reason }).to.deep.equal({
      code: 1,
      reason: 'rank 0 exited with code 1, then rank 2 was killed by SIGSEGV',
    });
  });

  it('names ranks that ended well before the others failed', () => {
    const { reason } = after('rank 1 own exit 0', 'rank 0 own exit 1', 'launcher exit 1');
    expect(reason).to.equal('rank 1 had ended with exit code 0, then rank 0 exited with code 1');
  });

  it('names ranks that ended well where only the launcher found fault with that', () => {
    const reports = ['rank 1 own exit 0', 'rank 0 asked signal 15', 'launcher exit 1'];
    expect(after(...reports).reason).to.equal(
      'rank 1 had ended with exit code 0, without having called init() or while the others still needed it',
    );
  });

  it('is never 0 where the launcher ended a rank', () => {
    expect(after('rank 1 own exit 0', 'rank 0 asked signal 15', 'launcher exit 0').code).to.equal(1);
    expect(after('rank 0 asked exit 0', 'launcher exit 0').code).to.equal(1);
    expect(after('rank 0 own lost', 'launcher exit 0').code).to.equal(137);
  });

  it('is 0 after a signal at which every rank ended well, else 128 and the signal', () => {
    expect(after('signal 15', 'rank 0 own exit 0', 'launcher exit 0')).to.deep.equal({ code: 0 });
    expect(after('signal 2', 'rank 0 own signal 2', 'launcher exit 130')).to.deep.equal({ code: 130 });
    // The launcher finds fault with ranks that did not finalize MPI.
    expect(after('signal 15', 'rank 0 own exit 0', 'launcher exit 1')).to.deep.equal({ code: 143 });
  });

  it('is a failure before a signal, or before output that nobody reads', () => {
    expect(after('rank 1 own exit 3', 'signal 2', 'launcher exit 1').code).to.equal(3);
    expect(after('rank 1 own exit 3', 'closed 1 32', 'launcher exit 3').code).to.equal(3);
    // EPIPE and ECONNRESET of Linux, then its EIO.
    for (const errno of [32, 104]) {
      expect(after(`closed 2 ${errno}`, 'launcher exit 1')).to.deep.equal({ code: 141, unread: true });
    }
    expect(after('closed 2 5', 'launcher exit 1').reason).to.equal(
      'standard error could not be written (EIO)',
    );
  });

  it('is 0 where all ranks ended well and the launcher never did', () => {
    expect(after('rank 0 own exit 0', 'overdue launcher', 'launcher signal 9')).to.deep.equal({ code: 0 });
  });

  it('is a failure where the supervisor has died before it could report', () => {
    expect(after('rank 0 own exit 0').code).to.equal(1);
  });
});
