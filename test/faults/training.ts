import type { Mesh } from '#lib/mesh/mesh.js';
import type { ParameterSpec } from '#lib/parameters/parameter.js';
import { MICROBATCHES, type Plan } from './plan.js';

const LEARNING_RATE = 1 / 8;
const MOMENTUM = 1 / 2;

/** What one rank trains. Every rank has its own copy, so that a fault can make one rank's differ. */
export interface Training {
  parameters: ParameterSpec[];
  learningRate: number;
  momentum: number;
  zeroStage: Plan['zeroStage'];
  path: Plan['path'];
  maxNorm: number;
  /** Added to every initial weight. */
  shift: number;
}

export function trainingOf({ tp, ep, zeroStage, path }: Plan): Training {
  return {
    parameters: [
      { name: 'norm', shape: [13], family: 'dense' },
      {
        name: 'attention',
        shape: [3 * tp, 7],
        family: 'tensor-sharded',
        partition: [{ axis: 'tp', dim: 0 }],
      },
      { name: 'gate', shape: [5, 3], family: 'router' },
      { name: 'experts', shape: [2 * ep, 11], family: 'expert', partition: [{ axis: 'ep', dim: 0 }] },
    ],
    learningRate: LEARNING_RATE,
    momentum: MOMENTUM,
    zeroStage,
    path,
    maxNorm: 1e6,
    shift: 0,
  };
}

/** The initial weight of a logical element. */
export function initial(i: number): number {
  return ((i * 7 + 3) % 11) / 8;
}

/** The gradient of a logical element in one micro-batch as all ranks together have it: an integer from -3 to 3. */
export function gradient(i: number, step: number, microbatch: number): number {
  return ((i + 3 * step + 5 * microbatch) % 7) - 3;
}

/**
 * What a rank adds to `gradient` for its own part of it. It is 0 over the ranks that the reduction adds up, so that the sum is
 * known without it and wrong if one of them is left out.
 */
export function ownPart(mesh: Mesh, rank: number, { family }: ParameterSpec): number {
  if (family === 'expert') return balanced(mesh.grid('expert').coordinates(rank)['edp']!, mesh.edp);
  if (family === 'tensor-sharded') return balanced(mesh.grid('dense').coordinates(rank)['dp']!, mesh.dp);
  return balanced(rank, mesh.world);
}

/** An expert's gradients are divided by tp and by dp and added up over edp, and ep * edp = tp * dp. */
export function ownScale(mesh: Mesh, { family }: ParameterSpec): number {
  return family === 'expert' ? mesh.ep : 1;
}

function balanced(index: number, count: number): number {
  return 2 * index - (count - 1);
}

/** What a logical element's master is after a number of steps of SGD with momentum, by hand. */
export function expected(i: number, steps: number): number {
  let master = initial(i);
  let velocity = 0;
  for (let step = 0; step < steps; step++) {
    let sum = 0;
    for (let microbatch = 0; microbatch < MICROBATCHES; microbatch++) sum += gradient(i, step, microbatch);
    velocity = MOMENTUM * velocity + sum;
    master -= LEARNING_RATE * velocity;
  }
  return master;
}
