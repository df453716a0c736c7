// Checks the model of how ranks meet (test/model/meeting.pml) with SPIN: every state of the right one, and that each
// one with something left out is found wrong. Options: --long (the right one with as many late ranks as there can be).
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { root } from './root.mjs';

/** A rank that has failed waits no more, so as many deadlines as ranks are all that there can be. */
const ALL_LATE = 'DEADLINES=3';

const HOLDS = [
  { name: 'one rank late, the others end because it tells them', flags: [] },
  { name: 'without aborts, each ends by its own deadline', flags: ['NO_ABORTS', ALL_LATE] },
];
const HOLDS_LONG = [{ name: 'all ranks late', flags: [ALL_LATE] }];
const BROKEN = [
  { name: 'no meeting before the pass', flags: ['NO_ENTRY'] },
  { name: 'no meeting after the pass', flags: ['NO_EXIT'] },
  { name: 'what is announced is not compared', flags: ['NO_COMPARISON'] },
  { name: 'one that gives up tells nobody', flags: ['NO_ABORTS'] },
  { name: 'one that gives up has come all the same', flags: ['NO_RETREAT'] },
  { name: 'one that has failed comes again', flags: ['NO_POISON'] },
  { name: 'epochs compared without a sign', flags: ['UNSIGNED'] },
  { name: 'the epoch told before what is announced', flags: ['EPOCH_FIRST'] },
];

const JOBS = 2;
const MEMORY_MB = 1500;
const LIMIT_MS = 110_000;

const runFile = promisify(execFile);

/** Gives {passed, failed, skipped}. */
export async function checkModel({ long = false } = {}) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const missing = ['spin', 'gcc'].find((program) => spawnSync(program, ['--version']).error);
  if (missing) {
    console.log(
      `  the model of the meetings was not checked: no ${missing} here ("apt-get install ${missing}")`,
    );
    return { ...counts, skipped: 1 };
  }
  const models = [
    ...(long ? [...HOLDS, ...HOLDS_LONG] : HOLDS).map((model) => ({ ...model, holds: true })),
    ...BROKEN.map((model) => ({ ...model, holds: false })),
  ];
  const scratch = mkdtempSync(join(tmpdir(), 'foldstep-model-'));
  try {
    const waiting = models.entries();
    const worker = async () => {
      for (const [index, model] of waiting) {
        const passed = await check(model, join(scratch, String(index)));
        counts[passed ? 'passed' : 'failed'] += 1;
      }
    };
    await Promise.all(Array.from({ length: JOBS }, worker));
  } finally {
    rmSync(scratch, { recursive: true });
  }
  return counts;
}

async function check({ name, flags, holds }, folder) {
  const { text, states, error } = await verify(flags, folder);
  const refused = error !== undefined;
  const complete = /errors: 0$/m.test(text) && !/max search depth too small/.test(text);
  // A verifier that stops for another reason has shown nothing.
  const passed = holds ? complete : refused;
  const verdict = refused ? `refused: ${error}` : complete ? 'holds' : 'was not searched to the end';
  console.log(`  ${passed ? 'ok' : 'FAILED'}  model: ${name}: ${verdict} (${states ?? 0} states)`);
  if (!passed && !refused) console.log(text);
  return passed;
}

async function verify(flags, folder) {
  mkdirSync(folder);
  const options = { cwd: folder, timeout: LIMIT_MS, maxBuffer: 2 ** 26 };
  const run = async (file, args) => {
    // SPIN and the verifier say by their text what they found.
    const { stdout } = await runFile(file, args, options).catch((error) => {
      if (typeof error.stdout !== 'string') throw error;
      return { stdout: `${error.stdout}\n${error.stderr}\n${file} ended with ${error.signal ?? error.code}` };
    });
    return stdout;
  };
  const source = join(root, 'test/model/meeting.pml');
  let text = await run('spin', ['-a', ...flags.map((flag) => `-D${flag}`), source]);
  text += await run('gcc', [
    '-O2',
    '-w',
    '-DSAFETY',
    '-DCOLLAPSE',
    `-DMEMLIM=${MEMORY_MB}`,
    '-o',
    'pan',
    'pan.c',
  ]);
  text += await run(join(folder, 'pan'), ['-m100000', '-w23']);
  const states = /(\d+) states, stored/.exec(text)?.[1];
  const error = /^pan:\d+: (assertion violated|invalid end state)/m.exec(text)?.[1];
  return { text, states, error };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const counts = await checkModel({ long: process.argv.includes('--long') });
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  process.exit(counts.failed > 0 ? 1 : 0);
}
