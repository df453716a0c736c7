import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { RunningCommand } from '../support/processes.js';
import { Scratch } from '../unit/replay/files.js';

describe('foldstep run, whose launcher is killed', () => {
  const scratch = new Scratch();
  after(() => scratch.remove());

  it('says so, and removes what the launcher has left among the temporary files', async () => {
    const script = scratch.write('waits.mjs', "console.log('ready');\nsetInterval(() => {}, 1000);");
    const temporary = join(scratch.folder, 'temporary');
    mkdirSync(temporary);
    const command = new RunningCommand(['run', '-n', '2', script], { TMPDIR: temporary });
    await command.hasSaid('ready', 2);
    // Open MPI names its folders ompi.HOST.USER/pid.PROCESS.
    const [user] = readdirSync(temporary) as [string];
    const [session] = readdirSync(join(temporary, user)) as [string];
    process.kill(Number(session.replace('pid.', '')), 'SIGKILL');
    expect(await command.ended).to.equal(137);
    expect(command.stderr).to.contain('the launcher was killed by SIGKILL');
    expect(readdirSync(temporary)).to.deep.equal([]);
  });
});
