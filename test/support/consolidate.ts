import type { Device } from '#lib/device/device.js';
import type { MeshSizes } from '#lib/mesh/mesh.js';
import { adamw } from '#lib/update/adam.js';
import { bits32, fold } from './fold.js';
import { anyBits, EVERY_FAMILY, numbers, writeLogical } from './logical.js';

const ZERO_STAGES = [0, 1, 2] as const;

/** The parameters that do not come back as they were loaded, of every ZeRO stage. */
export async function lostByRoundTrip(device: Device, sizes: Omit<MeshSizes, 'world'>): Promise<string[]> {
  const lost: string[] = [];
  for (const zeroStage of ZERO_STAGES) {
    using optimizer = await fold(device, sizes, EVERY_FAMILY, { zeroStage });
    for (const [seed, parameter] of optimizer.parameters.entries()) {
      const logical = anyBits(parameter.logicalSize, seed);
      optimizer.load(parameter.name, parameter.slice(device.rank, logical));
    }
    for (const [seed, { name, logicalSize }] of optimizer.parameters.entries()) {
      const back = bits32(await optimizer.consolidate(name));
      if (back.join() !== bits32(anyBits(logicalSize, seed)).join())
        lost.push(`${name} at ZeRO ${zeroStage}`);
    }
  }
  return lost;
}

/** What two steps of AdamW make otherwise than on data ranks alone, whose shards are whole: of every ZeRO stage. */
export async function otherThanUnsharded(device: Device, sizes: Omit<MeshSizes, 'world'>): Promise<string[]> {
  const update = adamw({ lr: 0.1, weightDecay: 0.01 });
  const dense = EVERY_FAMILY.map(({ name, shape }) => ({ name, shape, family: 'dense' as const }));
  using reference = await fold(device, {}, dense, { update, zeroStage: 0 });
  const whole = (name: string, what: What): Promise<Float32Array> =>
    Promise.resolve(reference.shard(name, what).values);
  const expected = await trained(device, reference, whole);
  const others: string[] = [];
  for (const zeroStage of ZERO_STAGES) {
    using optimizer = await fold(device, sizes, EVERY_FAMILY, { update, zeroStage });
    const got = await trained(device, optimizer, (name, what) => optimizer.consolidate(name, what));
    for (const [key, bits] of got) {
      if (bits !== expected.get(key)) others.push(`${key} at ZeRO ${zeroStage}`);
    }
  }
  return others;
}

type What = Parameters<Awaited<ReturnType<typeof fold>>['consolidate']>[1] & string;

/** The bits of every tensor after two steps: of the second gradient, the masters and the moments. */
async function trained(
  device: Device,
  optimizer: Awaited<ReturnType<typeof fold>>,
  read: (name: string, what: What) => Promise<Float32Array>,
): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  const look = async (what: What): Promise<void> => {
    for (const { name } of optimizer.parameters) {
      seen.set(`${what} of ${name}`, bits32(await read(name, what)).join());
    }
  };
  for (const [seed, parameter] of optimizer.parameters.entries()) {
    optimizer.load(parameter.name, parameter.slice(device.rank, numbers(parameter.logicalSize, seed)));
  }
  for (let step = 1; step <= 2; step++) {
    for (const [seed, parameter] of optimizer.parameters.entries()) {
      writeLogical(optimizer, parameter, device.rank, numbers(parameter.logicalSize, 50 * step + seed));
    }
    await optimizer.accumulate();
    await optimizer.reduce();
    if (step === 2) await look('accumulated');
    await optimizer.step();
  }
  for (const what of ['master', 'exp_avg', 'exp_avg_sq'] as const) await look(what);
  return seen;
}
