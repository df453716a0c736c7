import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Device } from '#lib/device/device.js';
import type { MeshSizes } from '#lib/mesh/mesh.js';
import { adamw } from '#lib/update/adam.js';
import { SMALL, smallTraining } from './small-training.js';

/** Steps for which the same experts are open. */
export const REGIME_STEPS = 50;
export const REGIMES = 4;

/** What lies above any score's reach: a sigmoid is below 1. */
const CLOSED = -2;

export interface RegimesRecord {
  readonly losses: number[];
  /** Bytes of the process after a collection of garbage, by step: 20, 30, ... */
  readonly resident: [step: number, bytes: number][];
  /** Tokens that each expert got from this rank's sequences, by regime, over all layers and steps. */
  readonly loads: number[][];
}

/** 200 steps in which the correction bias leaves two of the four groups of experts open, other ones every 50 steps. */
export async function trainRegimes(
  device: Device,
  mesh: Omit<MeshSizes, 'world'>,
  zeroStage: 0 | 1 | 2,
): Promise<RegimesRecord> {
  const { model, trainer, dispose } = await smallTraining(device, {
    mesh,
    optimizer: { update: adamw({ lr: 1e-3 }), zeroStage, maxNorm: 1 },
    trainer: { schedule: () => 1e-3, overlap: true },
  });
  const loads = Array.from({ length: REGIMES }, () => Array<number>(SMALL.experts).fill(0));
  const record: RegimesRecord = { losses: [], resident: [], loads };
  for (let step = 1; step <= REGIMES * REGIME_STEPS; step++) {
    const regime = Math.floor((step - 1) / REGIME_STEPS);
    for (const bias of model.buffers.values()) bias.set(biasOf(regime));
    model.observeRouting = ({ choices }) => {
      for (const expert of choices) loads[regime]![expert]! += 1;
    };
    record.losses.push((await trainer.step()).loss);
    if (step >= 20 && step % 10 === 0) record.resident.push([step, residentBytes()]);
  }
  dispose();
  return record;
}

/** Groups `regime` and the one after it are open. */
function biasOf(regime: number): Float32Array {
  const size = SMALL.experts / SMALL.groups;
  return Float32Array.from({ length: SMALL.experts }, (_, expert) => {
    const group = Math.floor(expert / size);
    return group === regime || group === (regime + 1) % SMALL.groups ? 0 : CLOSED;
  });
}

function residentBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage.rss();
}
