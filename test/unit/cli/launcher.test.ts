import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { flavourOf, launchCommand } from '#lib/launch/launcher.js';

describe('choosing how to launch', () => {
  it('knows launchers by what they say of themselves', () => {
    expect(flavourOf('mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/')).to.equal(
      'openmpi',
    );
    expect(flavourOf('HYDRA build details:\n    Version:  4.0.2')).to.equal('hydra');
    expect(flavourOf('Intel(R) MPI Library for Linux* OS, Version 2021.9')).to.equal('hydra');
    expect(flavourOf('slurm 23.02')).to.equal(undefined);
  });

  it('lets Open MPI start more ranks than there are cores, also as root, and keeps it quiet', () => {
    const launcher = { file: '/usr/bin/mpirun', flavour: 'openmpi', version: '' } as const;
    const { file, args, env } = launchCommand(launcher, 4);
    expect(file).to.equal('/usr/bin/mpirun');
    expect(args).to.deep.equal(['-q', '--oversubscribe', '--bind-to', 'none', '-n', '4']);
    expect(env['OMPI_ALLOW_RUN_AS_ROOT']).to.equal(process.getuid?.() === 0 ? '1' : undefined);
    expect(env['OMPI_MCA_btl_vader_single_copy_mechanism']).to.equal('none');
  });

  it('refuses more ranks than the memory of the host holds, with their number', () => {
    const launcher = { file: 'mpirun', flavour: 'openmpi', version: '' } as const;
    // 48 MiB each: no host has the 48 TiB.
    expect(() => launchCommand(launcher, 2 ** 20))
      .to.throw(FoldstepError, /at most \d+/)
      .with.property('code', 'LAUNCH_FAILED');
  });

  it("lets the user's own settings of Open MPI win", () => {
    process.env['PMIX_MCA_gds'] = 'ds21';
    try {
      const launcher = { file: 'mpirun', flavour: 'openmpi', version: '' } as const;
      expect(launchCommand(launcher, 2).env['PMIX_MCA_gds']).to.equal('ds21');
    } finally {
      delete process.env['PMIX_MCA_gds'];
    }
  });

  it("gives MPICH's launcher none of Open MPI's flags", () => {
    const { args } = launchCommand({ file: 'mpiexec', flavour: 'hydra', version: '' }, 3);
    expect(args).to.deep.equal(['-n', '3']);
  });
});
