import { chmodSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { BoundaryReport } from '#lib/bench/boundary/run.js';
import type { CallReport } from '#lib/bench/calls.js';
import type { MeshReport } from '#lib/bench/mesh/run.js';
import { exchangeChunks } from '#lib/bench/mesh/traffic.js';
import { OPERATIONS } from '#lib/bench/step/operations.js';
import type { StepReport } from '#lib/bench/step/run.js';
import { Mesh } from '#lib/mesh/mesh.js';
import { foldstep } from '../support/job.js';
import { processesOf, RunningCommand, until } from '../support/processes.js';
import { Scratch } from '../unit/replay/files.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** Programs, among the arguments of the processes that a benchmark starts. */
const SPINNER = `${root}dist/bench/busy/spinner.js`;
const RANK = `${root}dist/bench/boundary/rank.js`;
const PATHS = ['bf16-round-trip', 'fp32-staging', 'library', 'exchange', 'owner', 'direct'];

/** The one JSON object that a benchmark prints, and nothing else. */
async function bench<Report>(args: string[], env: Record<string, string> = {}): Promise<Report> {
  const { code, stdout, stderr } = await foldstep(['bench', ...args, '--json'], env);
  expect([code, stderr]).to.deep.equal([0, '']);
  expect(stdout.trimEnd()).not.to.contain('\n');
  return JSON.parse(stdout) as Report;
}

describe('foldstep bench', function () {
  this.timeout(240_000);
  const scratch = new Scratch();
  after(() => scratch.remove());

  /** An addon like ours, but for what one method prepares, which does nothing. */
  const addonWith = (name: string, idle: string): Record<string, string> => {
    const real = JSON.stringify(createRequire(import.meta.url).resolve(`${root}build/Release/foldstep.node`));
    const file = scratch.write(
      `${name}.cjs`,
      `const addon = require(${real});
module.exports = { ...addon, createBackend(...args) {
  const backend = addon.createBackend(...args);
  Object.defineProperty(backend, '${idle}', { value: () => ({ enqueue() {}, release() {} }) });
  return backend;
} };`,
    );
    return { FOLDSTEP_ADDON: file };
  };

  for (const [ranks, mirror] of [
    [2, false],
    [4, true],
  ] as const) {
    it(`times the boundary on every path of ${ranks} ranks${mirror ? ', mirrored' : ''}`, async () => {
      const elements = [1000, 300_000];
      const args = ['boundary', '--ranks', String(ranks), '--elements', elements.join(',')];
      const { rows } = await bench<BoundaryReport>(mirror ? [...args, '--mirror'] : args);
      expect(rows.map((row) => `${row.elements} ${row.path}`)).to.deep.equal(
        elements.flatMap((count) => PATHS.map((path) => `${count} ${path}`)),
      );
      for (const row of rows) {
        expect(Object.keys(row).sort()).to.deep.equal(
          'bandwidthGBs busy elements medianMs p10Ms p90Ms path ranks temporaryPeakBytes value'.split(' '),
        );
        expect(row.ranks).to.equal(ranks);
        expect(row.value, row.path).to.equal(row.path === 'bf16-round-trip' ? 1 : 1.00390625);
        expect(0 < row.p10Ms && row.p10Ms <= row.medianMs && row.medianMs <= row.p90Ms).to.equal(true);
        expect(row.bandwidthGBs).to.be.above(0);
      }
    });
  }

  it('times the boundary beside busy processes too, and leaves none of them behind', async () => {
    const { rows } = await bench<BoundaryReport>(['boundary', '--elements', '1000', '--busy', '2']);
    expect(rows.map(({ path, busy }) => [path, busy])).to.deep.equal(
      PATHS.flatMap((path) => [
        [path, 0],
        [path, 2],
      ]),
    );
    for (const [index, { medianMs, busy, timesQuiet }] of rows.entries()) {
      if (busy === 0) expect(timesQuiet).to.equal(undefined);
      else expect(timesQuiet).to.equal(medianMs / rows[index - 1]!.medianMs);
    }
    expect(processesOf(SPINNER)).to.deep.equal([]);
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
    it(`leaves no busy process behind where ${signal} ends it`, async () => {
      const args = ['--elements', '1000', '--busy', '2'];
      const command = new RunningCommand(['bench', 'boundary', ...args]);
      await until(() => processesOf(SPINNER).length === 2 && processesOf(RANK).length > 0);
      command.child.kill(signal);
      expect(await command.ended).not.to.equal(0);
      await until(() => processesOf(SPINNER).length === 0);
    });
  }

  it('fails where a busy process ends before the ranks do', async () => {
    const command = new RunningCommand(['bench', 'boundary', '--elements', '1000', '--busy', '1']);
    await until(() => processesOf(SPINNER).length === 1);
    process.kill(Number(processesOf(SPINNER)[0]), 'SIGKILL');
    expect(await command.ended).to.equal(1);
    expect([command.stdout, command.stderr]).to.deep.equal([
      '',
      'foldstep bench: a busy process does not run: it ended with SIGKILL\n',
    ]);
  });

  it('tells temporaries as the ledger does, which the cost model foresees', async () => {
    const counts = [5000, 2 ** 20 + 2 ** 18];
    for (const ranks of [2, 3]) {
      const args = ['boundary', '--ranks', String(ranks), '--elements', counts.join(',')];
      const { rows } = await bench<BoundaryReport>(args);
      const group = new Mesh({ world: ranks }).grid('dense').group(0, ['dp']);
      for (const elements of counts) {
        const ofCount = rows.filter((row) => row.elements === elements);
        const bytes = Object.fromEntries(ofCount.map((row) => [row.path, row.temporaryPeakBytes]));
        const geometry = { begin: 0, end: elements, replicas: ranks, shardLength: elements };
        const pass = { kind: 'accumulate', path: 'exchange', group, geometry, width: 2 } as const;
        const { temporaryBytes } = exchangeChunks(pass);
        expect(bytes['direct']).to.equal(0);
        expect(bytes['owner']).to.equal(0);
        expect(bytes['library']).to.equal(4 * elements);
        expect(bytes['fp32-staging']).to.equal(4 * elements);
        expect(bytes['bf16-round-trip']).to.equal(6 * elements);
        // Parts meet at multiples of 64 elements.
        expect(bytes['exchange']).to.be.within(temporaryBytes - 512, temporaryBytes + 512);
      }
    }
  });

  it('ends with 1, and reports nothing, where a path gives a wrong value', async () => {
    const env = addonWith('idle', 'prepareAccumulate');
    const ended = await foldstep(['bench', 'boundary', '--elements', '1000', '--json'], env);
    expect([ended.code, ended.stdout]).to.deep.equal([1, '']);
    expect(ended.stderr).to.match(
      /the accumulator of bf16-round-trip on rank \d: element 0 is 0 and must be 1/,
    );
  });

  it('ends with 1 where a step gives a wrong value', async () => {
    const env = addonWith('stuck', 'prepareUpdate');
    const ended = await foldstep(['bench', 'step', '--elements', '1000', '--json'], env);
    expect([ended.code, ended.stdout]).to.deep.equal([1, '']);
    expect(ended.stderr).to.contain("foldstep bench: SGD's master: element 0 is");
  });

  it('names a peer that is missing, and measures the rest', async () => {
    const absent = { FOLDSTEP_PYTHON: '/absent-python' };
    const args = ['--elements', '1000', '--peers'];
    const boundary = await bench<BoundaryReport>(['boundary', ...args], absent);
    expect(boundary.rows.map(({ path }) => path)).to.deep.equal(PATHS);
    const step = await bench<StepReport>(['step', ...args], absent);
    for (const [name, { peers }] of Object.entries({ torch: boundary, DeepSpeed: step })) {
      expect(peers).to.have.length(1);
      expect(peers[0]!.name).to.contain(name);
      expect(peers[0]).to.have.property('missing').that.contains('/absent-python');
    }
  });

  it('names a peer that answers nonsense, and reports what is its own', async () => {
    for (const [name, said] of Object.entries({ broken: '{oops', empty: '{}' })) {
      const python = scratch.write(`${name}-python`, `#!/bin/sh\necho '${said}'\n`);
      chmodSync(python, 0o755);
      const { peers, rows } = await bench<BoundaryReport>(['boundary', '--elements', '1000', '--peers'], {
        FOLDSTEP_PYTHON: python,
      });
      expect(peers[0]).to.have.property('missing').that.contains('boundary_torch.py ended with 0');
      expect(rows.map(({ path }) => path)).to.deep.equal(PATHS);
    }
  });

  it('times the passes of a simulated GPU too', async () => {
    const { rows } = await bench<StepReport>(['step', '--elements', '1000', '--backend', 'simulated']);
    expect(rows.map(({ operation }) => operation)).to.deep.equal([...Object.keys(OPERATIONS), 'step']);
    const boundary = ['boundary', '--elements', '1000', '--backend', 'simulated'];
    const { copyGBs, rows: paths } = await bench<BoundaryReport>(boundary);
    expect(copyGBs).to.equal(null);
    for (const { path, value } of paths)
      expect(value, path).to.equal(path === 'bf16-round-trip' ? 1 : 1.00390625);
  });

  it('says which module a peer lacks', async () => {
    const bare = scratch.write('bare-python', '#!/bin/sh\nexec env -u PYTHONPATH python3 -S "$@"\n');
    chmodSync(bare, 0o755);
    const { peers } = await bench<BoundaryReport>(['boundary', '--elements', '1000', '--peers'], {
      FOLDSTEP_PYTHON: bare,
    });
    // Or that there is no Python at all.
    expect(peers[0])
      .to.have.property('missing')
      .that.matches(/No module named 'torch'|python3/);
  });

  it('times the passes of a step', async () => {
    const { rows } = await bench<StepReport>(['step', '--elements', '1000,70000', '--threads', '1']);
    const ours = Object.keys(OPERATIONS);
    expect(rows.map(({ operation }) => operation)).to.deep.equal([...ours, ...ours, 'step']);
    for (const row of rows) {
      expect(row.threads).to.equal(1);
      expect(row.temporaryPeakBytes, row.operation).to.equal(0);
      expect(row.medianMs).to.be.above(0);
      if (row.operation !== 'step') expect(row.fractionOfCopy).to.be.above(0);
    }
  });

  it('times calls', async () => {
    const { rows } = await bench<CallReport>(['calls']);
    expect(rows.map(({ call }) => call)).to.include.members(['enqueued call', 'awaited empty stream']);
    for (const row of rows) expect(row.medianUs).to.be.above(0);
  });

  it('shows worlds up to 1,048,576 ranks', async () => {
    const { rows, costs } = await bench<MeshReport>(['mesh']);
    expect([rows[0]!.world, rows.at(-1)!.world]).to.deep.equal([8, 1_048_576]);
    for (const { heapBytes } of rows) expect(heapBytes).to.be.below(1_000_000);
    expect(new Set(costs.map(({ world }) => world))).to.deep.equal(new Set(rows.map(({ world }) => world)));
  });

  it('draws a page beside the text', async () => {
    const file = `${scratch.folder}/report.html`;
    const { code, stdout, stderr } = await foldstep([
      'bench',
      'boundary',
      '--elements',
      '1000,2000',
      '--report',
      file,
    ]);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.match(/^direct +2 +2000 .* 1\.00390625$/m);
    expect(readFileSync(file, 'utf8'))
      .to.match(/^<!doctype html>/)
      .and.to.contain('<svg');
  });

  it('draws the passes of a step at a single size, as short as one element', async () => {
    const file = `${scratch.folder}/step.html`;
    const { code, stderr } = await foldstep(['bench', 'step', '--elements', '1', '--report', file]);
    expect([code, stderr]).to.deep.equal([0, '']);
    const page = readFileSync(file, 'utf8');
    expect(page.match(/<figure>/g)).to.have.length(3);
    expect(page).to.contain('what this machine copies').and.not.to.contain('⚠');
  });

  it('refuses a page that cannot be written before it measures anything', async () => {
    const file = `${scratch.folder}/none/report.html`;
    const { code, stdout, stderr } = await foldstep(['bench', 'step', '--report', file]);
    expect([code, stdout]).to.deep.equal([2, '']);
    expect(stderr).to.contain(`INVALID_ARGUMENT: --report: ${file} cannot be written`);
  });

  it('refuses more threads than there are cores', async () => {
    const { code, stderr } = await foldstep(['bench', 'step', '--threads', '4096']);
    expect(code).to.equal(2);
    expect(stderr).to.match(/INVALID_ARGUMENT: 4096 threads .* at most \d+, one a core/);
  });

  it('refuses what is no boundary and no count', async () => {
    const alone = await foldstep(['bench', 'boundary', '--ranks', '1']);
    expect([alone.code, alone.stdout]).to.deep.equal([2, '']);
    expect(alone.stderr).to.contain('INVALID_ARGUMENT: a boundary is between ranks');
    for (const elements of ['0', '1.5', '10,', 'many'])
      expect((await foldstep(['bench', 'step', '--elements', elements])).code, elements).to.equal(2);
    for (const busy of ['0', '-1', '1,2'])
      expect((await foldstep(['bench', 'boundary', '--busy', busy])).code, busy).to.equal(2);
    const crowd = await foldstep(['bench', 'boundary', '--busy', '1000000']);
    expect([crowd.code, crowd.stdout]).to.deep.equal([2, '']);
    expect(crowd.stderr).to.match(/INVALID_ARGUMENT: --busy 1000000 is more than 16 processes a core/);
  });
});
