import { expect } from 'chai';
import { foldstep } from '../../support/job.js';
import { child } from './support.js';

describe('a device with ranks', () => {
  it('answers fs.readFile while eight waits for another rank are pending', async () => {
    const { code, stdout, stderr } = await foldstep(['run', '-n', '2', child('pending-waits')]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).to.deep.equal({ read: true, settledBefore: 0 });
  });

  it('is the only one in its job, on the main thread, until it is disposed of', async () => {
    const { code, stdout, stderr } = await foldstep(['run', '-n', '2', child('second-device')]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).to.deep.equal({ second: 'BUSY', alone: 1, inWorker: ['BUSY', 1], again: 2 });
  });
});
