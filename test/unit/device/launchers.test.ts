import { expect } from 'chai';
import { run } from '../../support/job.js';
import { child } from './support.js';

interface Found {
  readonly rank?: number;
  readonly size?: number;
  readonly code?: string;
  readonly message?: string;
}

/** What init() gives in one process, in each environment. */
async function initIn(...environments: Record<string, string>[]): Promise<Found[]> {
  const { code, stdout, stderr } = await run([child('launched'), JSON.stringify(environments)]);
  expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Found[];
}

function expectRefusal({ code, message, rank }: Found, texts: readonly string[], ofRank?: number): void {
  expect(code, message).to.equal('MPI_UNAVAILABLE');
  expect(rank).to.equal(ofRank);
  for (const text of texts) expect(message).to.include(text);
  expect(message).to.include('npx foldstep run').and.include("launcher: 'none'");
}

describe('a process that a launcher started', () => {
  // Open MPI joins by none of these: it takes the process for one that was started alone.
  const OTHER_MPI: [string, Record<string, string>, number | undefined, string[]][] = [
    [
      "MPICH's mpiexec",
      { PMI_RANK: '1', PMI_SIZE: '2' },
      1,
      ['rank 1 of 2 (PMI_RANK=1, PMI_SIZE=2)', 'rank 0 of 1'],
    ],
    [
      'a launcher that tells the size alone',
      { PMI_SIZE: '2' },
      undefined,
      ['one of 2 (PMI_SIZE=2)', 'rank 0 of 1'],
    ],
    [
      'MVAPICH',
      { MV2_COMM_WORLD_RANK: '0', MV2_COMM_WORLD_SIZE: '4' },
      0,
      ['rank 0 of 4 (MV2_COMM_WORLD_RANK=0, MV2_COMM_WORLD_SIZE=4)', 'rank 0 of 1'],
    ],
    ['PALS, which tells no size', { PALS_RANKID: '3' }, 3, ['rank 3 (PALS_RANKID=3)', 'rank 0 of 1']],
    [
      'Flux',
      { FLUX_TASK_RANK: '0', FLUX_JOB_SIZE: '2' },
      0,
      ['rank 0 of 2 (FLUX_TASK_RANK=0, FLUX_JOB_SIZE=2)', 'rank 0 of 1'],
    ],
  ];
  for (const [launcher, environment, rank, texts] of OTHER_MPI) {
    it(`of another MPI is refused, with both places: ${launcher}`, async () => {
      const [found] = await initIn(environment);
      expectRefusal(found!, [...texts, 'Open MPI'], rank);
    });
  }

  it('without MPI is refused: srun, whatever of its variables are left, and torchrun', async () => {
    const step = { SLURM_JOB_ID: '7', SLURM_STEP_ID: '0', SLURM_PROCID: '0', SLURM_NTASKS: '2' };
    const [counted, uncounted, second, torch] = await initIn(
      { ...step, SLURM_STEP_NUM_TASKS: '2' },
      step,
      { SLURM_PROCID: '1', SLURM_NTASKS: '2' },
      { TORCHELASTIC_RUN_ID: 'none', RANK: '1', WORLD_SIZE: '2' },
    );
    expectRefusal(counted!, ['srun', 'rank 0 of 2 (SLURM_PROCID=0, SLURM_STEP_NUM_TASKS=2)'], 0);
    expectRefusal(uncounted!, ['srun', 'rank 0 of 2 (SLURM_PROCID=0, SLURM_NTASKS=2)'], 0);
    expectRefusal(second!, ['srun', 'rank 1 of 2 (SLURM_PROCID=1, SLURM_NTASKS=2)'], 1);
    expectRefusal(torch!, ['torchrun', 'rank 1 of 2 (RANK=1, WORLD_SIZE=2)'], 1);
  });

  it('works alone where it is the only one', async () => {
    const allocation = { SLURM_JOB_ID: '7', SLURM_NTASKS: '8', SLURM_NPROCS: '8' };
    const found = await initIn(
      allocation,
      // The shell of a batch script.
      { ...allocation, SLURM_PROCID: '0', SLURM_LOCALID: '0' },
      // The shell of salloc, in a step of its own: Slurm numbers those from 0xfffffff0.
      { ...allocation, SLURM_PROCID: '0', SLURM_STEP_ID: '4294967290' },
      // srun -n 1 in an allocation of eight.
      { ...allocation, SLURM_PROCID: '0', SLURM_STEP_ID: '0', SLURM_STEP_NUM_TASKS: '1' },
      // torchrun's names without torchrun.
      { RANK: '1', WORLD_SIZE: '2' },
    );
    expect(found).to.deep.equal(found.map(() => ({ rank: 0, size: 1 })));
  });
});
