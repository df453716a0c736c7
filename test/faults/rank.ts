// One rank of a run: a small training, in which one rank does at one moment what the assignment says.
import { setTimeout as pause } from 'node:timers/promises';
import { type Device, FoldedOptimizer, init, Mesh, type ParameterSpec, sgd, toBFloat16 } from '#lib/index.js';
import { writeSafetensors } from '#lib/safetensors/index.js';
import { faultNamed } from './catalogue.js';
import type { Scene } from './fault.js';
import { type Assignment, isOfMicrobatch, isOfStep, MICROBATCHES, type Moment, STEPS } from './plan.js';
import { gradient, initial, ownPart, ownScale, trainingOf } from './training.js';
import { heard, leaveWord, STRUCK } from './words.js';

/** How long a rank that has ended waits for others after the deadline. */
const EXIT_TIMEOUT_MS = 1000;

const assignment = JSON.parse(process.argv[2]!) as Assignment;
const { ranks, tp, ep, deadlineMs, correct } = assignment;
const training = trainingOf(assignment);
const scene: Scene = { assignment, training };
const rank = Number(process.env['OMPI_COMM_WORLD_RANK']);
const now = { step: 0, microbatch: 0 };
for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
  process.on(signal, () => leaveWord(assignment.words, heard(signal, rank)));
}
await train();

async function train(): Promise<void> {
  await before('before init', async () => {});
  const device = await init({ deadlineMs, exitTimeoutMs: EXIT_TIMEOUT_MS, threads: 1 });
  scene.device = device;
  const mesh = new Mesh({ world: ranks, tp, ep });
  await before('before create', async () => {});
  const optimizer = await during('in create', () => create(device, mesh));
  scene.optimizer = optimizer;
  await before('before loading', async () => load(device, optimizer));
  for (; now.step < STEPS; now.step++) {
    for (now.microbatch = 0; now.microbatch < MICROBATCHES; now.microbatch++) {
      await before('before a micro-batch', async () => {
        write(device, mesh, optimizer);
        await during('in a micro-batch', () => optimizer.accumulate());
      });
    }
    now.microbatch = 0;
    await before('before a step', () => during('in a step', async () => void (await optimizer.step())));
    await before('before a collective', () => during('in a collective', () => addActivations(device)));
    await before('before saving', () => save(device, optimizer));
    process.stdout.write(`rank ${device.rank} has made step ${now.step}\n`);
  }
  optimizer.dispose();
  await before('at the end', async () => {});
}

function create(device: Device, mesh: Mesh): Promise<FoldedOptimizer> {
  const { parameters, learningRate, momentum, zeroStage, path, maxNorm } = training;
  return FoldedOptimizer.create({
    device,
    mesh,
    parameters,
    update: sgd({ lr: learningRate, momentum }),
    zeroStage,
    path,
    correct,
    maxNorm,
  });
}

function load(device: Device, optimizer: FoldedOptimizer): void {
  for (const parameter of optimizer.parameters) {
    const logical = Float32Array.from(
      { length: parameter.logicalSize },
      (_, i) => initial(i) + training.shift,
    );
    optimizer.load(parameter.name, parameter.slice(device.rank, logical));
  }
}

function write(device: Device, mesh: Mesh, optimizer: FoldedOptimizer): void {
  for (const parameter of optimizer.parameters) {
    const scale = ownScale(mesh, parameter as ParameterSpec);
    const own = ownPart(mesh, device.rank, parameter as ParameterSpec);
    const logical = Float32Array.from(
      { length: parameter.logicalSize },
      (_, i) => scale * gradient(i, now.step, now.microbatch) + own,
    );
    optimizer.gradient(parameter.name).set(toBFloat16(parameter.slice(device.rank, logical)));
  }
}

/** What a model's passes do besides: memory that comes and goes, and a sum over all ranks. */
async function addActivations(device: Device): Promise<void> {
  const activations = device.allocate(64 * 2 ** 20);
  const view = activations.view('float32', 0, 1000);
  view.write(new Float32Array(1000).fill(1));
  await device.world.allReduce(view);
  const wrong = view.read().find((sum) => sum !== ranks);
  if (wrong !== undefined) throw new Error(`a sum of 1 over ${ranks} ranks came out as ${wrong}`);
  activations.dispose();
}

/** Rank 0 writes, and the others wait for it. */
async function save(device: Device, optimizer: FoldedOptimizer): Promise<void> {
  const tensors = new Map<string, { shape: readonly number[]; values: Float32Array }>();
  for (const { name, shape } of optimizer.parameters) {
    tensors.set(name, { shape, values: await optimizer.consolidate(name) });
  }
  await during('in saving', async () => {
    if (device.rank === 0) writeSafetensors(assignment.save, tensors, { steps: `${now.step + 1}` });
    await device.world.barrier();
  });
}

/** Makes a call of the training, and lets the fault strike before it where that is the assignment. */
async function before(moment: Moment, call: () => Promise<void>): Promise<void> {
  const calls = isDue(moment) ? await strike() : 1;
  for (let made = 0; made < calls; made++) await call();
}

/** Makes a call of the training, and lets the fault strike while it is under way where that is the assignment. */
async function during<T>(moment: Moment, call: () => Promise<T>): Promise<T> {
  const underWay = call();
  if (isDue(moment)) {
    if (assignment.delayMs > 0) await pause(assignment.delayMs);
    await strike();
  }
  return underWay;
}

function isDue(moment: Moment): boolean {
  if (rank !== assignment.culprit || moment !== assignment.moment) return false;
  if (isOfStep(moment) && now.step !== assignment.step) return false;
  return !isOfMicrobatch(moment) || now.microbatch === assignment.microbatch;
}

/** Gives how often the call that follows is to be made. */
async function strike(): Promise<number> {
  const fault = faultNamed(assignment.fault);
  leaveWord(assignment.words, STRUCK);
  await fault.strike?.(scene);
  return fault.calls ?? 1;
}
