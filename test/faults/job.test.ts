import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { draw } from './draw.js';
import { carryOut, type Seen } from './job.js';
import { processesOf } from './traces.js';

describe('a job of the campaign', () => {
  const plan = {
    ...draw({ seed: 1, runs: 1, only: ['goes on no more'], ranks: 2 })[0]!,
    moment: 'before a step',
  } as const;
  const long = 120_000;

  it('that is still there when its time is over is found out, and ended with everything of it', async () => {
    const seen = await carryOut(plan, { startMs: long, endMs: 300, deadlineMs: long }, (it: Seen) => it);
    expect(seen.struck).to.equal(true);
    expect(seen.code).to.equal(undefined);
    // The command, its launcher and two ranks at least.
    expect(seen.processes).to.have.length.of.at.least(4);
    const home = dirname(dirname(seen.save));
    expect(processesOf(home)).to.deep.equal([]);
    expect(existsSync(home)).to.equal(false);
  });
});
