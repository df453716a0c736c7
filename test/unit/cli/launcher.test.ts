import { expect } from 'chai';
import { FoldstepError } from '#lib/errors.js';
import { flavourOf, launchCommand, terminalEnvironment } from '#lib/launch/launcher.js';

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
    const { file, args, env } = launchCommand(launcher, 4, ['node', 'script.js']);
    expect(file).to.equal('/usr/bin/mpirun');
    expect(args.slice(0, 6)).to.deep.equal(['-q', '--oversubscribe', '--bind-to', 'none', '-n', '4']);
    expect(args.slice(-2)).to.deep.equal(['node', 'script.js']);
    expect(env['OMPI_ALLOW_RUN_AS_ROOT']).to.equal(process.getuid?.() === 0 ? '1' : undefined);
    expect(env['OMPI_MCA_btl_vader_single_copy_mechanism']).to.equal('none');
  });

  it('refuses more ranks than the memory of the host holds, with their number', () => {
    const launcher = { file: 'mpirun', flavour: 'openmpi', version: '' } as const;
    // 48 MiB each: no host has the 48 TiB.
    expect(() => launchCommand(launcher, 2 ** 20, ['node']))
      .to.throw(FoldstepError, /at most \d+/)
      .with.property('code', 'LAUNCH_FAILED');
  });

  it("lets the user's own settings of Open MPI win", () => {
    process.env['PMIX_MCA_gds'] = 'ds21';
    try {
      const launcher = { file: 'mpirun', flavour: 'openmpi', version: '' } as const;
      expect(launchCommand(launcher, 2, ['node']).env['PMIX_MCA_gds']).to.equal('ds21');
    } finally {
      delete process.env['PMIX_MCA_gds'];
    }
  });

  it('says that there is no terminal where the output goes to none, and asks for no colours unless the user does', () => {
    const own = { A: 'a', TERM: 'xterm' };
    expect(terminalEnvironment(own, false)).to.deep.equal({ A: 'a', TERM: 'dumb', NO_COLOR: '1' });
    for (const colours of [{ FORCE_COLOR: '1' }, { FORCE_COLOR: '' }, { NO_COLOR: '' }]) {
      expect(terminalEnvironment(colours, false)).to.deep.equal({ ...colours, TERM: 'dumb' });
    }
    expect(terminalEnvironment(own, true)).to.deep.equal(own);
  });

  it("gives MPICH's launcher none of Open MPI's flags", () => {
    const { args } = launchCommand({ file: 'mpiexec', flavour: 'hydra', version: '' }, 3, ['node', 's.js']);
    expect(args.slice(0, 2)).to.deep.equal(['-n', '3']);
    expect(args).not.to.include('--oversubscribe');
  });
});
