import { expect } from 'chai';
import { run } from '../../support/job.js';
import { child } from './support.js';

describe('worker threads', () => {
  it('work beside each other and the main thread, and can be terminated in mid-call', async () => {
    const { code, stdout, stderr } = await run([child('threads')]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).to.deep.equal({ right: [true, true, true, true], afterwards: true });
  });
});
