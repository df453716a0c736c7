import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { foldstep } from '../support/job.js';

interface Found {
  readonly rank: number;
  readonly size?: number;
  readonly code?: string;
  readonly message?: string;
  readonly peer?: number;
}

const program = (name: string): string => fileURLToPath(new URL(`./programs/${name}.js`, import.meta.url));

async function start(
  ranks: number,
  way: string,
): Promise<{ code: number | null; stderr: string; found: Found[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'foldstep-test-'));
  try {
    const { code, stderr } = await foldstep(['run', '-n', String(ranks), program('start'), way, folder]);
    const lines = stderr.split(/\r?\n/).filter((line) => line.startsWith('{'));
    return { code, stderr, found: lines.map((line) => JSON.parse(line) as Found) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the start of a job', () => {
  it('ends by the deadline where a rank never calls init(), and the others name it', async () => {
    const { code, found } = await start(3, 'never');
    expect(code).to.equal(5);
    expect(found).to.not.be.empty;
    for (const { rank, code: error, message, peer } of found) {
      expect(rank).to.not.equal(1);
      expect({ error, peer }).to.deep.equal({ error: 'DEADLINE_EXCEEDED', peer: 1 });
      expect(message).to.include('rank 1 has not called init()');
    }
  });

  it('does not end with 0 where the ranks that gave up exit with a code of which the host sees 0', async () => {
    const { code, stderr, found } = await start(2, 'never, and 256');
    expect(found.map(({ code: error }) => error)).to.deep.equal(['DEADLINE_EXCEEDED']);
    expect(code).to.equal(1);
    expect(stderr).to.include('rank 0 exited with code 1');
  });

  it('ends by the deadline where a rank is stopped in init(), and that is told with its process', async () => {
    const { code, found } = await start(2, 'stopped');
    expect(code).to.equal(5);
    expect(found.map(({ rank, peer }) => ({ rank, peer }))).to.deep.equal([{ rank: 0, peer: 1 }]);
    expect(found[0]!.code).to.equal('DEADLINE_EXCEEDED');
    expect(found[0]!.message).to.match(/rank 1 \(process \d+\) is stopped/);
  });

  it('goes on where a rank that gave up calls init() again', async () => {
    const { code, found } = await start(2, 'late');
    expect(code).to.equal(0);
    expect(found.map(({ rank, code: error, size }) => error ?? `${rank} of ${size}`)).to.have.members([
      'DEADLINE_EXCEEDED',
      '0 of 2',
      '1 of 2',
    ]);
  });
});

describe('a process that a rank starts', () => {
  it('is refused by init(), works alone where it asks for that, and the job goes on', async () => {
    const { code, stdout, stderr } = await foldstep(['run', '-n', '2', program('children')]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const { pid, forked, spawned, asked, cleaned, size } = JSON.parse(stdout);
    for (const refusal of [forked, spawned]) {
      expect(refusal).to.include({ code: 'MPI_UNAVAILABLE', rank: 0 });
      expect(refusal.message).to.include(`process ${pid} is rank 0`).and.include("launcher: 'none'");
    }
    expect({ asked, cleaned, size }).to.deep.equal({ asked: { size: 1 }, cleaned: { size: 1 }, size: 2 });
  });
});
