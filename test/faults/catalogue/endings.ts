// A rank ends, or does not go on.
import type { Fault } from '../fault.js';
import { MOMENTS } from '../plan.js';
import { AWAITED, GONE, killedBy, line } from './words.js';

/** At the end nobody needs the rank any more. */
const NEEDED = MOMENTS.filter((moment) => moment !== 'at the end');

const isKilledBy = (signal: NodeJS.Signals): Fault => ({
  name: `killed by ${signal}`,
  moments: MOMENTS,
  strike: () => {
    process.kill(process.pid, signal);
    return forEver();
  },
  right: { code: 'failure', named: line(killedBy(signal)) },
});

const exitsWith = (code: number, right: Fault['right']['code'], whileNeeded = false): Fault => ({
  name: `exits with ${code}`,
  moments: whileNeeded ? NEEDED : MOMENTS,
  whileNeeded,
  strike: () => process.exit(code),
  right: { code: right, named: line(GONE) },
});

export const endings: readonly Fault[] = [
  isKilledBy('SIGKILL'),
  isKilledBy('SIGSEGV'),
  isKilledBy('SIGTERM'),
  {
    name: 'stopped',
    moments: MOMENTS,
    strike: () => {
      process.kill(process.pid, 'SIGSTOP');
    },
    right: { code: 'failure', named: line(AWAITED) },
  },
  {
    name: 'goes on no more',
    moments: MOMENTS,
    strike: forEver,
    // What it holds may be collected as garbage: then it has given up its window.
    right: { code: 'failure', named: line(AWAITED, GONE) },
  },
  {
    name: 'throws',
    moments: MOMENTS,
    strike: () => {
      throw new Error('the fault of this run');
    },
    right: { code: 1, named: line(GONE) },
  },
  exitsWith(0, 'failure', true),
  exitsWith(3, 3),
  exitsWith(256, 'failure'),
  {
    name: 'ends well too early',
    moments: NEEDED,
    whileNeeded: true,
    strike: ({ device, optimizer }) => {
      optimizer?.dispose();
      device?.dispose();
      // Nothing is left to do, so the process ends; with 13 for the call that it never makes, if it said no code.
      process.exitCode = 0;
      return new Promise<void>(() => {});
    },
    right: { code: 'failure', named: line(GONE) },
  },
];

/** The process stays. */
function forEver(): Promise<void> {
  return new Promise(() => setInterval(() => {}, 60_000));
}
