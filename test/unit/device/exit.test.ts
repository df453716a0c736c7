import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { child } from './support.js';

// A hang is cut off here and fails: no ending takes this long.
const LIMIT = 20_000;

describe('the end of a process', () => {
  function end(...args: string[]) {
    const { status, signal, stderr } = spawnSync(process.execPath, [child('ending'), ...args], {
      encoding: 'utf8',
      timeout: LIMIT,
      killSignal: 'SIGKILL',
    });
    return { status, signal, stderr };
  }
  const cleanly = (status: number) => ({ status, signal: null, stderr: '' });

  for (const state of ['open', 'disposed', 'busy']) {
    describe(`with the device ${state}`, () => {
      it('comes by itself, with code 0', () => {
        expect(end('end', state)).to.deep.equal(cleanly(0));
      });

      for (const code of [0, 3]) {
        it(`keeps the code of process.exit(${code})`, () => {
          expect(end('exit', state, String(code))).to.deep.equal(cleanly(code));
        });
      }

      for (const [way, reason] of [
        ['throw', 'thrown on purpose'],
        ['reject', 'rejected on purpose'],
      ] as const) {
        it(`has code 1 after an uncaught ${way}, and shows that error alone`, () => {
          const { status, signal, stderr } = end(way, state);
          expect({ status, signal }).to.deep.equal({ status: 1, signal: null });
          expect(stderr.match(/^\w*Error.*/gm)).to.deep.equal([`Error: ${reason}`]);
          expect(stderr).to.match(/Node\.js v[\d.]+\s*$/);
        });
      }

      it('is by SIGTERM where that was sent', () => {
        expect(end('sigterm', state)).to.deep.equal({ status: null, signal: 'SIGTERM', stderr: '' });
      });
    });
  }
});
