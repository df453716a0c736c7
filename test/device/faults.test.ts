import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { foldstep } from '../support/job.js';

const program = fileURLToPath(new URL('./programs/meet.js', import.meta.url));

interface Answer {
  rank?: number;
  sum?: number;
  accumulated?: number[];
  collectives?: string;
  code?: string;
  message?: string;
  peer?: number;
}

/** What each of `ranks` ranks on simulated GPUs says. */
async function meet(ranks: number, env: Record<string, string>, options: object = {}): Promise<Answer[]> {
  const args = ['run', '-n', String(ranks), program, JSON.stringify({ device: 'simulated', ...options })];
  const { stdout } = await foldstep(args, env);
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Answer);
}

describe('GPUs, simulated', function () {
  this.timeout(120_000);

  const expectResult = (answers: Answer[], collectives: string): void => {
    expect(answers).to.have.length(2);
    for (const answer of answers) {
      expect(answer).to.include({ sum: 3, collectives });
      expect(answer.accumulated).to.deep.equal([2, 3]);
    }
  };

  it('of their own carry collectives by NCCL', async () => {
    expectResult(await meet(2, {}), 'nccl');
  });

  it('that ranks share carry them by MPI, and reach each other by IPC all the same', async () => {
    expectResult(await meet(2, { FOLDSTEP_SIMULATED_DEVICES: '1' }), 'host');
  });

  it('that ranks share are named, with the ranks, where NCCL is asked for', async () => {
    const answers = await meet(2, { FOLDSTEP_SIMULATED_DEVICES: '1' }, { collectives: 'nccl' });
    expect(answers).to.have.length(2);
    for (const { code, message } of answers) {
      expect(code).to.equal('DEVICE_SHARED');
      expect(message)
        .to.match(/GPU-[0-9a-f-]{36}/)
        .and.to.match(/ranks? 0.*1/);
    }
  });

  it('without a driver are unavailable, and it is said what is missing', async () => {
    const [answer] = await meet(1, { FOLDSTEP_SIMULATE: 'no-driver' });
    expect(answer!.code).to.equal('DEVICE_UNAVAILABLE');
    expect(answer!.message).to.contain('driver');
  });

  it('give a typed error on every rank where memory is short', async () => {
    for (let nth = 1; nth <= 4; nth++) {
      // Both ranks' nth allocation fails: neither finishes, and one at least says why.
      const codes = (await meet(2, { FOLDSTEP_SIMULATE: `fail-allocation=${nth}` })).map(({ code }) => code);
      expect(codes, `allocation ${nth}`).to.have.length(2).and.to.include('OUT_OF_MEMORY');
      for (const code of codes)
        expect(code, `allocation ${nth}`).to.be.oneOf(['OUT_OF_MEMORY', 'PEER_EXITED']);
    }
  });

  it('of a rank that stops answering are found out by the deadline, and named', async () => {
    const answers = await meet(2, { FOLDSTEP_SIMULATE: 'drop-rank=1' }, { deadlineMs: 3000 });
    const late = answers.filter(({ code }) => code === 'DEADLINE_EXCEEDED');
    expect(late, JSON.stringify(answers)).not.to.have.length(0);
    for (const { message } of late) expect(message).to.match(/rank [01]/);
  });
});
