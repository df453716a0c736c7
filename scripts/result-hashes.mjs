// Prints one line for each setting of an optimizer: the setting, and a SHA-256 over the results of
// all ranks. Run it before and after a change: `diff` of both outputs shows which bits changed.
//
//   node scripts/result-hashes.mjs [--from DIR] [--device cpu|simulated|cuda] [--only TEXT]
//
// --from    the checkout whose dist is run; by default the one that this script lies in
// --device  what the ranks compute on; `cpu` by default
// --only    runs the settings alone whose line holds this text
//
// It uses the public API alone. It starts real jobs on 1 to 4 ranks, with `foldstep run`. Settings
// that the API refuses give no line. The lines of path=library are marked: MPI or NCCL chooses
// their order of sums.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const SCRIPT = fileURLToPath(import.meta.url);
const { values: given } = parseArgs({
  options: {
    from: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
    device: { type: 'string', default: 'cpu' },
    only: { type: 'string', default: '' },
    job: { type: 'string' },
    out: { type: 'string' },
  },
});
const from = resolve(given.from);

/** The jobs: how many ranks, on how many nodes, and the meshes that each tries. */
const JOBS = [
  { ranks: 1, nodes: 1, meshes: [{}] },
  {
    ranks: 2,
    nodes: 1,
    meshes: [
      { tp: 2, ep: 2 },
      { tp: 1, ep: 2 },
      { tp: 2, etp: 2 },
    ],
  },
  { ranks: 3, nodes: 1, meshes: [{ tp: 3, ep: 3 }, { tp: 1 }] },
  {
    ranks: 4,
    nodes: 1,
    meshes: [
      { tp: 2, ep: 4 },
      { tp: 4, ep: 2, etp: 2 },
      { tp: 2, ep: 2 },
      { tp: 1, ep: 2 },
    ],
  },
  // The nodes are pretended, by name: their ranks do not share memory.
  { ranks: 2, nodes: 2, meshes: [{ tp: 2, ep: 2 }] },
  {
    ranks: 4,
    nodes: 2,
    meshes: [
      { tp: 4, ep: 2 },
      { tp: 2, ep: 2 },
    ],
  },
];
const NORMS = [1, 2, 3.5, Number.POSITIVE_INFINITY];
const CLIPS = ['none', 'whole', 'groups', 'whole+groups'];
const RULES = ['sgd', 'momentum', 'nesterov', 'adam', 'adamw'];
const PATHS = ['direct', 'owner', 'exchange', 'library', 'auto'];
const STEPS = 2;
const MICROBATCHES = 2;

if (given.job === undefined) runAllJobs();
else await runRank(JOBS[Number(given.job)], given.out);

function runAllJobs() {
  for (const [index, job] of JOBS.entries()) {
    const folder = mkdtempSync(join(tmpdir(), 'result-hashes-'));
    try {
      const cli = join(from, 'dist/cli/main.js');
      const own = ['--from', from, '--device', given.device, '--only', given.only];
      const args = [
        cli,
        'run',
        '-n',
        String(job.ranks),
        SCRIPT,
        ...own,
        '--job',
        String(index),
        '--out',
        folder,
      ];
      const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
      if (status !== 0)
        throw new Error(`the job of ${job.ranks} ranks on ${job.nodes} nodes ended with ${status}`);
      const perRank = Array.from({ length: job.ranks }, (_, rank) =>
        JSON.parse(readFileSync(join(folder, `${rank}.json`), 'utf8')),
      );
      for (const [setting, first] of Object.entries(perRank[0])) {
        const all = perRank.map((hashes) => hashes[setting]);
        const text =
          all.includes(first) && all.includes(undefined) ? 'missing on a rank' : sha256(all.join());
        console.log(`${setting} ${text}`);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function sha256(text) {
  return createHash('sha256').update(text).digest('hex');
}

/** One rank of a job: leaves a hash for each setting in a file. */
async function runRank(job, out) {
  if (job.nodes > 1) {
    const perNode = job.ranks / job.nodes;
    process.env.FOLDSTEP_NODE = `node-${Math.floor(Number(process.env.OMPI_COMM_WORLD_RANK) / perNode)}`;
  }
  const api = await import(pathToFileURL(join(from, 'dist/index.js')).href);
  const device = await api.init({ device: given.device });
  const pool = poolOf(api, device.rank);
  const hashes = {};
  for (const [number, setting] of [...settingsFor(job)].entries()) {
    const name = describe(job, number, setting);
    if (!name.includes(given.only)) continue;
    const mesh = new api.Mesh({ world: job.ranks, ...setting.mesh });
    const hash = await hashOf(api, device, mesh, setting, pool);
    if (hash !== undefined) hashes[name] = hash;
  }
  writeFileSync(join(out, `${device.rank}.json`), JSON.stringify(hashes));
}

/**
 * Every way of the gradients, and every norm with every rule. What is left of a setting is drawn at
 * random.
 */
function* settingsFor({ ranks, nodes, meshes }) {
  const next = random(10 * ranks + nodes);
  const draw = (list) => list[Math.floor(next() * list.length)];
  const rest = () => ({
    mesh: draw(meshes),
    clip: draw(CLIPS),
    large: draw([true, false, false]),
    sequence: next() < 0.5,
  });
  for (const path of PATHS)
    for (const zeroStage of [0, 1, 2])
      for (const correct of ['microbatch', 'step'])
        for (const accumulate of ['fp32', 'bf16'])
          for (const gradientType of ['bfloat16', 'float32'])
            for (const mirror of [false, true]) {
              const way = { path, zeroStage, correct, accumulate, gradientType, mirror };
              yield { ...way, norm: draw(NORMS), rule: draw(RULES), ...rest() };
            }
  for (const norm of NORMS)
    for (const rule of RULES) {
      const way = { path: 'auto', zeroStage: draw([0, 1, 2]), correct: 'microbatch', accumulate: 'fp32' };
      yield { ...way, gradientType: 'bfloat16', mirror: false, norm, rule, ...rest() };
    }
}

function describe({ ranks, nodes }, number, setting) {
  const { mesh, path, zeroStage, correct, accumulate, gradientType, mirror, norm, clip, rule } = setting;
  const sizes = Object.entries(mesh).map(([axis, size]) => `${axis}${size}`);
  return [
    `#${number}`,
    `ranks=${ranks}`,
    `nodes=${nodes}`,
    `mesh=${sizes.join(',') || 'alone'}`,
    `path=${path}${path === 'library' ? '(order-of-the-library)' : ''}`,
    `zero=${zeroStage}`,
    `correct=${correct}`,
    `accumulate=${accumulate}`,
    `gradients=${gradientType}`,
    `mirror=${mirror ? 'on' : 'off'}`,
    `norm=${norm}`,
    `clip=${clip}`,
    `rule=${rule}`,
  ].join(' ');
}

/**
 * Parameters of every family; the sizes are odd where the mesh allows it. The large one is not in
 * every setting.
 */
function parametersFor({ tp, ep, etp, nativeEp, nativeEtp }, { large }) {
  const cuts = (...axes) => axes.map((axis, dim) => ({ axis, dim }));
  const elements = given.device === 'cpu' && large ? 70001 : 4097;
  return [
    { name: 'one', shape: [1], family: 'dense' },
    { name: 'dense', shape: [elements], family: 'dense', normGroup: 'large' },
    { name: 'router', shape: [7, 63], family: 'router' },
    { name: 'partial', shape: [63], family: 'router-partial', normGroup: 'small' },
    { name: 'sequence', shape: [129], family: 'sequence-norm' },
    { name: 'empty', shape: [0], family: 'dense' },
    { name: 'sharded', shape: [3 * tp, 63], family: 'tensor-sharded', partition: cuts('tp') },
    { name: 'columns', shape: [5, tp], family: 'tensor-sharded', partition: [{ axis: 'tp', dim: 1 }] },
    {
      name: 'experts',
      shape: [ep, 331 * etp],
      family: 'expert',
      partition: cuts('ep', 'etp'),
      normGroup: 'small',
    },
    { name: 'bias', shape: [3 * ep, 1], family: 'expert', partition: cuts('ep') },
    { name: 'copied', shape: [63], family: 'expert' },
    {
      name: 'native',
      shape: [nativeEp, 65 * nativeEtp],
      family: 'native-expert',
      partition: cuts('ep', 'etp'),
    },
  ];
}

function ruleOf({ sgd, adam, adamw }, rule) {
  const rules = {
    sgd: () => sgd({ lr: 0.05, weightDecay: 0.02 }),
    momentum: () => sgd({ lr: 0.05, momentum: 0.9 }),
    nesterov: () => sgd({ lr: 0.05, momentum: 0.9, nesterov: true, weightDecay: 0.01 }),
    adam: () => adam({ lr: 0.01, weightDecay: 0.01 }),
    adamw: () => adamw({ lr: 0.01, betas: [0.9, 0.95], weightDecay: 0.1 }),
  };
  return rules[rule]();
}

/**
 * Random numbers, the same at every run, of which each gradient takes a part: another one on each
 * rank.
 */
function poolOf({ toBFloat16 }, rank) {
  const next = random(1000 + rank);
  const full = Float32Array.from({ length: 200_003 }, () => (next() - 0.5) * 2 ** Math.floor(8 * next() - 6));
  return { float32: full, bfloat16: toBFloat16(full) };
}

/** Numbers from 0 up to 1 (mulberry32). */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** The hash of what this rank sees of a few steps; none where the API refuses the setting. */
async function hashOf(api, device, mesh, setting, pool) {
  const { path, zeroStage, correct, accumulate, gradientType, mirror, norm, clip, rule, sequence } = setting;
  let optimizer;
  try {
    optimizer = await api.FoldedOptimizer.create({
      device,
      mesh,
      parameters: parametersFor(mesh, setting),
      update: ruleOf(api, rule),
      ...{ path, zeroStage, correct, accumulate, gradientType, mirror, norm },
      sequenceParallel: sequence,
      maxNorm: clip.includes('whole') ? 0.75 : null,
      groupMaxNorms: clip.includes('groups') ? { small: 0.5 } : {},
    });
  } catch (error) {
    if (['INVALID_ARGUMENT', 'PATH_UNAVAILABLE'].includes(error.code)) return undefined;
    throw error;
  }
  const hash = createHash('sha256');
  const add = (array) => hash.update(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  try {
    load(api, optimizer, device.rank);
    const names = optimizer.parameters.map(({ name }) => name);
    for (let step = 0; step < STEPS; step++) {
      for (let microbatch = 0; microbatch < MICROBATCHES; microbatch++) {
        for (const [i, name] of names.entries()) {
          const target = optimizer.gradient(name);
          const start = (7919 * (i + 1) + 104_729 * (step + 3 * microbatch)) % (200_003 - target.length);
          target.set(pool[gradientType].subarray(start, start + target.length));
        }
        // The last micro-batch of a step comes in two parts, as gradients come out of a backward
        // pass.
        if (microbatch === 0) await optimizer.accumulate();
        else {
          await optimizer.accumulate(names.filter((_, i) => i % 3 === 1));
          await optimizer.accumulate(names.filter((_, i) => i % 3 !== 1));
        }
        if (mirror) for (const name of names) add(optimizer.gradient(name));
      }
      if (step === 1) {
        await optimizer.reduce();
        for (const name of names) add(optimizer.shard(name, 'accumulated').values);
      }
      optimizer.learningRate *= 0.9;
      hash.update(JSON.stringify(bitsIn(await optimizer.step())));
      for (const name of names) {
        add(optimizer.weight(name));
        for (const what of ['master', ...ruleOf(api, rule).states]) add(optimizer.shard(name, what).values);
      }
    }
    return hash.digest('hex');
  } finally {
    optimizer.dispose();
  }
}

/** Every rank takes its own part of the same logical tensors, of which some are BF16. */
function load({ toBFloat16 }, optimizer, rank) {
  for (const [i, parameter] of optimizer.parameters.entries()) {
    const next = random(i);
    const logical = Float32Array.from({ length: parameter.logicalSize }, () => 2 * next() - 1);
    const local = parameter.slice(rank, logical);
    optimizer.load(parameter.name, i % 3 === 0 ? toBFloat16(local) : local);
  }
}

/** A result with each number as the bits of its FP64. */
function bitsIn(value) {
  if (typeof value === 'number') return new BigUint64Array(Float64Array.of(value).buffer)[0].toString(16);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, bitsIn(each)]));
}
