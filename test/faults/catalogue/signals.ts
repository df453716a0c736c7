// Something happens to the command that started the job.
import type { Fault, Scene } from '../fault.js';
import { MOMENTS } from '../plan.js';
import { awaitWords, heard, RELEASED } from '../words.js';

const CODES = { SIGHUP: 129, SIGINT: 130, SIGKILL: 137, SIGTERM: 143 };

const interruptedBy = (signal: keyof typeof CODES): Fault => ({
  name: `the command gets ${signal}`,
  moments: MOMENTS,
  strike: untilReleased,
  meanwhile: (command) => command.kill(signal),
  right: {
    code: CODES[signal],
    // A process that gets SIGKILL says nothing any more.
    ...(signal === 'SIGKILL' ? {} : { named: () => new RegExp(signal) }),
  },
});

/** Every rank has a handler that leaves a word. */
const heardBy = (signal: NodeJS.Signals): Fault => ({
  name: `the command gets ${signal}`,
  // All have met, so that they have their handlers, and none can come to its end, where it runs no handler any more.
  moments: MOMENTS.slice(MOMENTS.indexOf('before a micro-batch'), MOMENTS.indexOf('in saving')),
  strike: async ({ assignment }) => {
    await awaitWords(
      assignment.words,
      Array.from({ length: assignment.ranks }, (_, rank) => heard(signal, rank)),
    );
  },
  meanwhile: (command) => command.kill(signal),
  right: { code: 0 },
});

export const signals: readonly Fault[] = [
  interruptedBy('SIGINT'),
  interruptedBy('SIGTERM'),
  interruptedBy('SIGHUP'),
  interruptedBy('SIGKILL'),
  heardBy('SIGUSR1'),
  heardBy('SIGUSR2'),
  {
    name: 'a closed pipe',
    moments: MOMENTS.slice(0, MOMENTS.indexOf('before saving')),
    strike: untilReleased,
    meanwhile: (command) => command.stdout!.destroy(),
    right: { code: 'failure' },
  },
];

async function untilReleased({ assignment }: Scene): Promise<void> {
  // Where the campaign ends the job, nobody releases the rank.
  const open = setInterval(() => {}, 60_000);
  await awaitWords(assignment.words, [RELEASED]);
  clearInterval(open);
}
