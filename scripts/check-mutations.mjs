// Whether the simulated device finds faults: takes out, one at a time, what keeps ranks or threads apart, and runs jobs
// that must then fail. Needs the native test programs' build. Ends with the counts.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filesUnder } from './files.mjs';
import { root } from './root.mjs';

const TREE = join(root, 'build/cmake');
const TARGETS = ['CMakeFiles/foldstep_simulated.dir', 'CMakeFiles/simulated_kernels.dir'];
/** Interleavings that a fault may hide in; the unchanged code must stand them all. */
const SEEDS = [1, 2, 3, 4, 5];
const CASE = 'test/fixtures/replay/unequal-microbatches';

const MUTATIONS = [
  {
    name: 'a comment changed and nothing else',
    file: 'native/cuda/kernels/signal.cu',
    find: '/// Epochs wrap.\n',
    put: '/// Epochs go round.\n',
    path: 'direct',
    harmless: true,
  },
  {
    name: 'no barrier before the threads of a meeting read what the others found',
    file: 'native/cuda/kernels/signal.cu',
    find: 'outcomes[member] = meet_member(view, member);\n  block_barrier();\n',
    put: 'outcomes[member] = meet_member(view, member);\n',
    path: 'direct',
  },
  {
    name: 'no wait for the other members',
    file: 'native/cuda/kernels/signal.cu',
    find: 'while (!view.has_come(member)) {',
    put: 'while (false) {',
    path: 'direct',
  },
  {
    name: 'the epoch told before what is announced',
    file: 'native/cuda/kernels/signal.cu',
    find: `  if (meeting.announces) tell(meeting.mine, slot.descriptor);
  store_release_system(&slot.epoch, meeting.epoch);
`,
    put: `  store_release_system(&slot.epoch, meeting.epoch);
  if (meeting.announces) tell(meeting.mine, slot.descriptor);
`,
    path: 'direct',
  },
  {
    name: 'no barrier between the steps of folding the sums of a norm',
    file: 'native/cuda/kernels/norm.cu',
    find: '    block_barrier();\n    for (auto i = static_cast<int>(thread_index()); i < half;',
    put: '    for (auto i = static_cast<int>(thread_index()); i < half;',
    path: 'kernels',
  },
  ...['direct', 'owner'].map((path) => ({
    name: `no meeting when ${path} is done`,
    file: 'native/cuda/window/cuda_window.cpp',
    find: 'void barrier() override { meet(false); }',
    put: 'void barrier() override {}',
    path,
  })),
];

/** Gives {passed, failed, skipped}: one check for each path of the unchanged library, one for each change. */
export function checkMutations() {
  const folder = mkdtempSync(join(tmpdir(), 'foldstep-mutations-'));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const count = (ok, text) => {
    console.log(`  ${ok ? 'ok' : 'FAILED'}  ${text}`);
    counts[ok ? 'passed' : 'failed'] += 1;
  };
  try {
    for (const path of ['direct', 'owner', 'kernels']) {
      const failing = SEEDS.filter((seed) => !passes(path, seed, undefined));
      count(
        failing.length === 0,
        `unchanged, ${path} stands the seeds ${SEEDS.join(', ')}${failing.length ? `, but not ${failing.join(', ')}` : ''}`,
      );
    }
    for (const mutation of MUTATIONS) {
      const library = build(mutation, folder);
      const found = SEEDS.find((seed) => !passes(mutation.path, seed, library));
      count(
        (found === undefined) === (mutation.harmless ?? false),
        `${mutation.name}: ${found === undefined ? 'stands every seed' : `found with seed ${found}`}`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return counts;
}

/** Whether a recorded case, or the tests of kernels, passes on a library: the build's own if it is undefined. */
function passes(path, seed, library) {
  const args =
    path === 'kernels'
      ? ['node_modules/mocha/bin/mocha.js', 'build/test/device/kernels.test.js', '--grep', 'norm']
      : ['dist/cli/main.js', 'replay', CASE, '--backend', 'simulated', '--path', path];
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: 'ignore',
    timeout: 120_000,
    env: {
      ...process.env,
      FOLDSTEP_SIMULATE: `delay,seed=${seed}`,
      ...(library === undefined ? {} : { FOLDSTEP_SIMULATED_PLUGIN: library }),
    },
  });
  return status === 0;
}

/** The simulated backend with one file changed. */
function build({ name, file, find, put }, folder) {
  const text = readFileSync(join(root, file), 'utf8');
  const places = text.split(find).length - 1;
  if (places !== 1) throw new Error(`"${name}": what is to be changed is ${places} times in ${file}`);
  const changed = join(folder, basename(file));
  writeFileSync(changed, text.replace(find, put));
  const object = join(folder, `${basename(file)}.o`);
  const { directory, command, output } = commandFor(file);
  // The changed file comes last: the options say what language it is in.
  const compile = command.replace(/ -o \S+ -c \S+$/, ` -o ${object} -c ${changed}`);
  run(compile, directory);

  const others = TARGETS.flatMap((target) => filesUnder(`build/cmake/${target}`, /\.o$/))
    .map((other) => join(root, other))
    .filter((other) => other !== join(directory, output));
  const library = join(folder, 'foldstep_simulated.so');
  const archives = ['libsimulated_device.a', 'libfoldstep_runtime.a'].map((archive) => join(TREE, archive));
  run(
    `mpicxx -shared -Wl,-z,nodelete -o ${library} ${[object, ...others, ...archives].join(' ')} -ldl -lrt -lpthread`,
    root,
  );
  return library;
}

function commandFor(file) {
  const commands = JSON.parse(readFileSync(join(TREE, 'compile_commands.json'), 'utf8'));
  const found = commands
    .map((entry) => ({ ...entry, output: entry.output ?? / -o (\S+)/.exec(entry.command)[1] }))
    .find(
      (entry) => entry.file === join(root, file) && TARGETS.some((target) => entry.output.includes(target)),
    );
  if (found === undefined) throw new Error(`the build does not compile ${file} for the simulation`);
  return found;
}

function run(command, cwd) {
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}\n${stderr}`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { passed, failed, skipped } = checkMutations();
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exit(failed > 0 ? 1 : 0);
}
