import { createHash } from 'node:crypto';
import type { Device } from '../device/device.js';
import { gatherArrays } from '../device/small-arrays.js';
import type { FoldedOptimizer, StepResult } from '../optimizer/folded-optimizer.js';
import { showName } from '../show.js';

const DIGEST_BYTES = 8;

/**
 * After a step: that every rank has the same bits of norm and clip coefficient, and of each weight the same bits as the
 * others that hold copies of it. Resolves with what differs, a sentence each. Collective.
 */
export async function findDisagreements(
  device: Device,
  optimizer: FoldedOptimizer,
  result: StepResult,
): Promise<string[]> {
  const { parameters } = optimizer;
  const scalars = new Float64Array([result.gradNorm, result.clipCoefficient]);
  const digests = parameters.map(({ name }) => digest(optimizer.weight(name)));
  const bytes = Buffer.concat([new Uint8Array(scalars.buffer), ...digests]);
  const ranks = await gatherArrays(device, device.world, bytes);

  const found: string[] = [];
  const compare = (what: string, offset: number, reference: (rank: number) => number): void => {
    const at = (rank: number): Uint8Array => ranks[rank]!.subarray(offset, offset + DIGEST_BYTES);
    const odd = ranks.findIndex((_, rank) => Buffer.compare(at(rank), at(reference(rank))) !== 0);
    if (odd >= 0) found.push(`rank ${odd} and rank ${reference(odd)} hold different bits of ${what}`);
  };
  compare('the norm', 0, () => 0);
  compare('the clip coefficient', DIGEST_BYTES, () => 0);
  for (const [i, parameter] of parameters.entries()) {
    const copies = parameter.copyAxes(false);
    compare(`the weight of ${showName(parameter.name)}`, scalars.byteLength + i * DIGEST_BYTES, (rank) =>
      parameter.grid.group(rank, copies).at(0),
    );
  }
  return found;
}

function digest(values: Uint16Array): Uint8Array {
  return createHash('sha256').update(values).digest().subarray(0, DIGEST_BYTES);
}
