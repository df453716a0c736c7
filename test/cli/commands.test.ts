import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { foldstep } from '../support/job.js';
import { shellCommand } from '../support/processes.js';
import { Scratch } from '../unit/replay/files.js';

const manifest = fileURLToPath(new URL('../../../package.json', import.meta.url));

interface Doctor {
  ready: boolean;
  findings: { name: string; ok: boolean; found: string; mend?: string }[];
}

describe('foldstep', function () {
  this.timeout(60_000);
  const scratch = new Scratch();
  after(() => scratch.remove());

  it('tells its version', async () => {
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
    expect(await foldstep(['--version'])).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('ends with 141 and without a word where nobody reads what it prints', () => {
    const command = shellCommand('topology', '--world', '8', '--tp', '2');
    // The reader has gone before the command begins.
    const line = `{ sleep 0.5; ${command} 2>&1; echo $? >&2; } 2>'${scratch.folder}/code' | true`;
    execFileSync('bash', ['-c', line]);
    expect(readFileSync(`${scratch.folder}/code`, 'utf8')).to.equal('141\n');
  });

  it('helps, also without an addon', async () => {
    const { code, stdout } = await foldstep(['--help'], { FOLDSTEP_ADDON: '/absent.node' });
    expect(code).to.equal(0);
    for (const command of ['run', 'replay', 'topology', 'doctor']) {
      expect(stdout).to.contain(`  ${command} `);
      const help = await foldstep([command, '--help']);
      expect(help.code).to.equal(0);
      expect(help.stdout).to.contain(`Usage: foldstep ${command} `);
    }
  });

  it('ends with 2 for a command line that it does not know', async () => {
    for (const args of [[], ['walk'], ['topology'], ['doctor', '--loud'], ['topology', '--world', 'two']]) {
      expect((await foldstep(args)).code, args.join(' ')).to.equal(2);
    }
  });

  it('shows a topology as text, as JSON and as a picture', async () => {
    const sizes = ['topology', '--world', '8', '--tp', '2', '--ep', '4', '--native-etp', '4'];
    const text = await foldstep(sizes);
    expect(text.code).to.equal(0);
    expect(text.stdout).to.match(/^ {2}edp 2 .*0 4 \| 1 5 \| 2 6 \| 3 7$/m);
    const picture = `${scratch.folder}/mesh.svg`;
    const { stdout } = await foldstep([...sizes, '--json', '--svg', picture]);
    const topology = JSON.parse(stdout);
    expect(topology.sizes).to.deep.include({ world: 8, tp: 2, ep: 4, etp: 1, native: { ep: 1, etp: 4 } });
    expect(topology.grids[0].axes[0].groups).to.deep.equal([
      [0, 1],
      [2, 3],
      [4, 5],
      [6, 7],
    ]);
    expect(readFileSync(picture, 'utf8')).to.match(/^<svg/);
  });

  it('refuses to write a picture where there is no place for it', async () => {
    const picture = `${scratch.folder}/absent/mesh.svg`;
    const { code, stdout, stderr } = await foldstep(['topology', '--world', '8', '--svg', picture]);
    expect([code, stdout]).to.deep.equal([2, '']);
    expect(stderr).to.match(/^foldstep: INVALID_ARGUMENT: --svg: .*mesh\.svg cannot be written: ENOENT.*\n$/);
  });

  it('refuses a mesh that does not fit, with the sizes that would', async () => {
    const { code, stdout, stderr } = await foldstep(['topology', '--world', '8', '--tp', '3', '--json']);
    expect([code, stdout]).to.deep.equal([2, '']);
    expect(stderr).to.match(/^foldstep: INVALID_MESH: tp = 3 .*1, 2, 4, 8/);
  });

  it('looks this host over, and starts two ranks to see whether they meet', async () => {
    const { code, stdout, stderr } = await foldstep(['doctor', '--json']);
    expect([code, stderr]).to.deep.equal([0, '']);
    const { ready, findings } = JSON.parse(stdout) as Doctor;
    expect(ready).to.equal(true);
    const found = Object.fromEntries(findings.map((finding) => [finding.name, finding]));
    for (const name of ['Node.js', 'addon', 'MPI launcher', 'MPI ranks'])
      expect(found[name]?.ok, name).to.equal(true);
    expect(found['shared memory']!.found).to.contain('MiB free');
    expect(found).to.include.keys('instruction sets', 'processors', 'GPU backend');
    const user = found['user']!.found;
    if (process.getuid!() === 0) expect(user).to.match(/^root, as whom ranks may run/);
    else expect(user).to.equal(String(process.getuid!()));
    const text = await foldstep(['doctor']);
    expect(text.stdout).to.match(/^ok +addon /m);
  });

  it('says how to build an addon that is not there', async () => {
    const { code, stdout } = await foldstep(['doctor', '--json'], { FOLDSTEP_ADDON: '/absent.node' });
    expect(code).to.equal(1);
    const { ready, findings } = JSON.parse(stdout) as Doctor;
    expect(ready).to.equal(false);
    const addon = findings.find(({ name }) => name === 'addon')!;
    expect(addon.ok).to.equal(false);
    expect(addon.found).to.contain('/absent.node');
    expect(addon.mend).to.contain('npm run build:native');
  });

  it('says how to get MPI where there is none; one rank can run all the same', async () => {
    const { code, stdout } = await foldstep(['doctor', '--json'], { PATH: scratch.folder });
    expect(code).to.equal(0);
    const launcher = (JSON.parse(stdout) as Doctor).findings.find(({ name }) => name === 'MPI launcher')!;
    expect(launcher.ok).to.equal(false);
    expect(launcher.mend).to.contain('apt-get install openmpi-bin');
  });
});
