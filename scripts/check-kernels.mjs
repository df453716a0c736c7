// Compiles the CUDA kernels for every architecture and checks what came out: no warning, no spill, no stack frame,
// few enough registers, and the memory accesses that the design says. Needs nvcc, but no GPU.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filesUnder } from './files.mjs';
import { root } from './root.mjs';

const ARCHITECTURES = [75, 80, 86, 89, 90, 100, 120];
const JOBS = 2;
/** What four blocks of 256 threads on a multiprocessor leave each thread. */
const MOST_REGISTERS = 64;
/** What native/cuda/CMakeLists.txt gives for the device's part. */
const FLAGS = ['-std=c++20', '-fmad=false', '-O3'];

const VECTOR_LOAD = { name: 'loads of 16 bytes', pattern: /\bld(?:\.global)?\.v4\.[bfu]32\b/ };
const VECTOR_STORE = { name: 'stores of 16 bytes', pattern: /\bst(?:\.global)?\.v4\.[bfu]32\b/ };
const RELEASE = { name: 'system-scope release', pattern: /\bst\.release\.sys\b/ };
const ACQUIRE = { name: 'system-scope acquire', pattern: /\bld\.acquire\.sys\b/ };
const REQUIRED = {
  cast_kernel: [VECTOR_LOAD, VECTOR_STORE],
  copy_kernel: [VECTOR_LOAD, VECTOR_STORE],
  zero_kernel: [VECTOR_STORE],
  fold_kernel: [VECTOR_LOAD, VECTOR_STORE],
  norm_blocks_kernel: [VECTOR_LOAD],
  update_kernel: [VECTOR_LOAD, VECTOR_STORE],
  meet_kernel: [RELEASE, ACQUIRE],
};
/** Sums in an order of their own, or with one rounding where the CPU has two. */
const FORBIDDEN = [
  { name: 'atomic operations on floats', pattern: /\b(?:atom|red)\.\S*\.(?:f32|f64)\b/ },
  { name: 'fused multiply-add of FP32', pattern: /\bfma\.\S*\.f32/ },
  { name: 'fused multiply-add of FP64', pattern: /\bfma\.\S*\.f64/, except: takesPowers },
];

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { passed, failed, skipped } = await checkKernels();
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exit(failed > 0 ? 1 : 0);
}

/** Gives {passed, failed, skipped}. */
export async function checkKernels() {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const nvcc = findNvcc();
  if (nvcc === undefined) {
    console.log('  the CUDA kernels were not compiled: there is no nvcc here');
    return { ...counts, skipped: 1 };
  }
  const architectures = supportedBy(nvcc);
  const folder = mkdtempSync(join(tmpdir(), 'foldstep-kernels-'));
  try {
    const sources = filesUnder('native/cuda', /\.cu$/);
    const results = await inTurn(sources, (source) => compile(nvcc, source, architectures, folder));
    const findings = [...results.flatMap(({ findings }) => findings), ...missing(results)];
    printTable(
      results.flatMap(({ kernels }) => kernels),
      architectures,
    );
    for (const { what, problems } of findings) {
      counts[problems.length === 0 ? 'passed' : 'failed']++;
      for (const problem of problems) console.log(`  FAILED  ${what}: ${problem}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return counts;
}

function findNvcc() {
  const { CUDACXX, CUDA_HOME, CUDA_PATH } = process.env;
  const homes = [CUDA_HOME, CUDA_PATH, '/usr/local/cuda'].filter((home) => home);
  const candidates = [CUDACXX, 'nvcc', ...homes.map((home) => join(home, 'bin/nvcc'))].filter((file) => file);
  return candidates.find((file) => spawnSync(file, ['--version']).status === 0);
}

function supportedBy(nvcc) {
  const { stdout } = spawnSync(nvcc, ['--list-gpu-arch'], { encoding: 'utf8' });
  const listed = new Set([...stdout.matchAll(/compute_(\d+)$/gm)].map(([, number]) => Number(number)));
  return ARCHITECTURES.filter((architecture) => listed.has(architecture));
}

/** Runs `task` on every item, the largest source first, `JOBS` at a time. */
async function inTurn(items, task) {
  const waiting = items.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const results = [];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      results.push(await task(item));
    }
  };
  await Promise.all(Array.from({ length: JOBS }, worker));
  return results;
}

function sizeOf(source) {
  return readFileSync(join(root, source)).length;
}

async function compile(nvcc, source, architectures, folder) {
  const kept = join(folder, basename(source, '.cu'));
  mkdirSync(kept);
  const newest = architectures.at(-1);
  const targets = architectures.map((a) => {
    const code = a === newest ? `[sm_${a},compute_${a}]` : `sm_${a}`;
    return `-gencode=arch=compute_${a},code=${code}`;
  });
  const { status, output } = await run(nvcc, [
    ...[...FLAGS, ...targets, '-Xptxas', '-v', '-I', 'native'],
    ...['--keep', '--keep-dir', kept, '-fatbin', source, '-o', join(kept, 'kernels.fatbin')],
  ]);
  const complaints = output.split('\n').filter((line) => /\b(?:warning|error)\b/i.test(line));
  const findings = [{ what: source, problems: status === 0 ? complaints : [output] }];
  if (status !== 0) return { findings, kernels: [], names: [] };

  const kernels = readResources(output);
  findings.push(...kernels.map(checkResources));
  const bodies = readPtx(kept, newest);
  findings.push(...bodies.map(checkInstructions));
  return { findings, kernels, names: bodies.map(({ name }) => baseName(name)) };
}

function run(file, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data;
      });
    }
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}

/** From what ptxas says of each function. */
function readResources(output) {
  const kernels = [];
  const pattern =
    /Compiling entry function '(\S+)' for 'sm_(\d+)'|(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads|Used (\d+) registers/g;
  for (const [, mangled, architecture, stack, stores, loads, registers] of output.matchAll(pattern)) {
    const last = kernels.at(-1);
    if (mangled !== undefined) {
      kernels.push({ name: mangled, architecture: Number(architecture), stack: 0, spills: 0 });
    } else if (registers !== undefined) {
      last.registers = Number(registers);
    } else {
      last.stack += Number(stack);
      last.spills += Number(stores) + Number(loads);
    }
  }
  const names = demangle(kernels.map(({ name }) => name));
  return kernels.map((kernel, i) => ({ ...kernel, name: names[i] }));
}

function checkResources({ name, architecture, stack, spills, registers }) {
  const problems = [];
  if (stack > 0) problems.push(`a stack frame of ${stack} bytes`);
  if (spills > 0) problems.push(`${spills} bytes of spills`);
  if (!(registers <= MOST_REGISTERS)) problems.push(`${registers} registers, more than ${MOST_REGISTERS}`);
  return { what: `${name} on sm_${architecture}`, problems };
}

/** Every kernel's name and body. */
function readPtx(folder, architecture) {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ptx'));
  const file = files.find((name) => name.endsWith(`.compute_${architecture}.ptx`)) ?? files[0];
  const text = readFileSync(join(folder, file), 'utf8');
  const entries = [...text.matchAll(/^(?:\.visible )?\.entry (\w+)\([\s\S]*?^}/gm)];
  const names = demangle(entries.map(([, mangled]) => mangled));
  return entries.map(([body], i) => ({ name: names[i], body }));
}

function checkInstructions({ name, body }) {
  const lacking = (REQUIRED[baseName(name)] ?? []).filter(({ pattern }) => !pattern.test(body));
  const surplus = FORBIDDEN.filter(({ pattern, except }) => pattern.test(body) && !except?.(name));
  return {
    what: `PTX of ${name}`,
    problems: [
      ...lacking.map((rule) => `it has no ${rule.name}`),
      ...surplus.map((rule) => `it has ${rule.name}`),
    ],
  };
}

/** Kernels that something is required of must be there. */
function missing(results) {
  const there = new Set(results.flatMap(({ names }) => names));
  return Object.keys(REQUIRED).map((name) => ({
    what: name,
    problems: there.has(name) ? [] : ['there is no such kernel'],
  }));
}

/** The library's power of two FP64 numbers has them. */
function takesPowers(name) {
  return ['norm_blocks_kernel', 'finish_norm_kernel'].includes(baseName(name));
}

function baseName(name) {
  return name.replace(/[<(].*/, '');
}

/** Without namespaces, return types and parameters. */
function demangle(names) {
  const { status, stdout } = spawnSync('c++filt', { input: names.join('\n'), encoding: 'utf8' });
  if (status !== 0) throw new Error('c++filt is missing: it comes with the compiler, in binutils');
  return stdout
    .trim()
    .split('\n')
    .map((name) =>
      name
        .replaceAll(/\(anonymous namespace\)::|foldstep::(?:\w+::)*/g, '')
        .replace(/^void /, '')
        .replace(/\((?!\w+\)\d)[\s\S]*$/, ''),
    );
}

function printTable(kernels, architectures) {
  const names = [...new Set(kernels.map(({ name }) => name))].sort();
  const width = Math.max(...names.map((name) => name.length), 0);
  console.log(
    `  ${'registers on sm_'.padEnd(width)}${architectures.map((a) => `${a}`.padStart(5)).join('')}`,
  );
  for (const name of names) {
    const registers = architectures.map((architecture) => {
      const kernel = kernels.find((one) => one.name === name && one.architecture === architecture);
      return `${kernel?.registers ?? '-'}`.padStart(5);
    });
    console.log(`  ${name.padEnd(width)}${registers.join('')}`);
  }
}
