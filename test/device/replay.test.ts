import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { CaseReport } from '#lib/replay/result.js';
import { foldstep } from '../support/job.js';

const device = process.env['FOLDSTEP_TEST_DEVICE'] ?? 'simulated';
const folder = fileURLToPath(new URL('../../../test/fixtures/replay/', import.meta.url));

describe('a replay that cannot begin', () => {
  it('is reported with the device that was asked for', async () => {
    const args = ['replay', `${folder}midpoint`, '--backend', 'cuda', '--json'];
    const { code, stdout } = await foldstep(args, { FOLDSTEP_CUDA_PLUGIN: '/absent.so' });
    expect(code).to.equal(1);
    const { cases } = JSON.parse(stdout) as { cases: CaseReport[] };
    expect(cases.map(({ backend, passed }) => [backend, passed])).to.deep.equal([['cuda', false]]);
  });
});

describe(`recorded training on the ${device} device`, function () {
  this.timeout(240_000);
  for (const name of readdirSync(folder).sort()) {
    it(`is replayed: ${name}, on every path`, async () => {
      const args = ['replay', folder + name, '--backend', device, '--json'];
      const { code, stdout, stderr } = await foldstep([...args, '--path', 'direct,owner,exchange,library']);
      expect(stderr).to.equal('');
      const { cases } = JSON.parse(stdout) as { cases: CaseReport[] };
      expect(cases).to.have.length(4);
      for (const report of cases) {
        expect(report.passed, JSON.stringify(report)).to.equal(true);
        expect(report.backend).to.equal(device);
      }
      expect(code).to.equal(0);
    });
  }
});
