import { expect } from 'chai';
import { run } from '../../support/job.js';

describe('an addon that cannot be loaded', () => {
  const program = (body: string) => ['--input-type=module', '--eval', body];

  it('does not keep the package from being imported; the first call says why and how to mend it', async () => {
    const body = `
      const { init } = await import('#lib/device/init.js');
      await init().catch(({ name, code, message }) => console.log(JSON.stringify({ name, code, message })));`;
    const { code, stdout } = await run(program(body), { FOLDSTEP_ADDON: '/nowhere/foldstep.node' });
    expect(code).to.equal(0);
    const error = JSON.parse(stdout) as { name: string; code: string; message: string };
    expect(error).to.include({ name: 'FoldstepError', code: 'ADDON_NOT_BUILT' });
    expect(error.message).to.include('/nowhere/foldstep.node').and.include('npm run build:native');
    expect(error.message).to.include('npx foldstep doctor').and.include('cmake');
  });
});
