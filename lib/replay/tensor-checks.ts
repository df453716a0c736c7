import { toBFloat16 } from '../device/bfloat16.js';
import type { Device } from '../device/device.js';
import { reduceArrays } from '../device/small-arrays.js';
import type { ShardView } from '../optimizer/folded-optimizer.js';
import type { Parameter } from '../parameters/parameter.js';
import type { SafetensorsFile } from '../safetensors/file.js';
import { largestDifference, largestMagnitude, relativeTo } from './compare.js';
import type { ErrorKind } from './result.js';

/** The error of one logical tensor, over all ranks. */
export interface TensorError {
  readonly kind: Exclude<ErrorKind, 'gradNorm'>;
  readonly tensor: string;
  readonly error: number;
  /** Elements that no rank held, so that nothing was compared. */
  readonly missing: number;
}

interface Check {
  readonly kind: TensorError['kind'];
  readonly tensor: string;
  readonly difference: number;
  readonly magnitude: number;
  /** By logical element: 1 if this rank held it. */
  readonly held: Uint8Array;
}

/**
 * Compares what one rank holds with what the case expects; `combine` then makes one error per logical tensor of what all
 * ranks found. Every rank makes the same checks in the same order.
 */
export class TensorChecks {
  readonly #expected: SafetensorsFile;
  readonly #rank: number;
  readonly #checks: Check[] = [];
  /** By parameter: for each element of this rank's local part, its place in the logical tensor. */
  readonly #places = new Map<Parameter, Float64Array>();

  constructor(expected: SafetensorsFile, rank: number) {
    this.#expected = expected;
    this.#rank = rank;
  }

  /** Checks a shard of a parameter's local part against the expected tensor `tensor`. */
  add(kind: TensorError['kind'], tensor: string, parameter: Parameter, { offset, values }: ShardView): void {
    const want = this.#expected.float32(tensor);
    const end = offset + values.length;
    const held = new Uint8Array(parameter.logicalSize);
    for (const place of this.#placesOf(parameter).subarray(offset, end)) held[place] = 1;
    this.#checks.push({
      kind,
      tensor,
      difference: largestDifference(values, parameter.slice(this.#rank, want).subarray(offset, end)),
      magnitude: largestMagnitude(want),
      held,
    });
  }

  /** One error per tensor, in the order they were added; the same on every rank. Collective. */
  async combine(device: Device): Promise<TensorError[]> {
    const ownDifferences = Float64Array.from(this.#checks, ({ difference }) => difference);
    const ownHeld = new Uint8Array(Buffer.concat(this.#checks.map((check) => check.held)));
    const differences = await reduceArrays(device, device.world, ownDifferences, 'max');
    const held = await reduceArrays(device, device.world, ownHeld, 'max');
    let end = 0;
    return this.#checks.map(({ kind, tensor, magnitude, held: own }, i) => {
      const begin = end;
      end += own.length;
      return {
        kind,
        tensor,
        error: relativeTo(differences[i]!, magnitude),
        missing: held.subarray(begin, end).reduce((sum, one) => sum + 1 - one, 0),
      };
    });
  }

  #placesOf(parameter: Parameter): Float64Array {
    const known = this.#places.get(parameter);
    if (known) return known;
    const logical = Float64Array.from({ length: parameter.logicalSize }, (_, i) => i);
    const places = parameter.slice(this.#rank, logical);
    this.#places.set(parameter, places);
    return places;
  }
}

/** How many weights of a shard are not the BF16 rounding of their master. `weight` is the whole local part, BF16 bits. */
export function countUnrounded(weight: Uint16Array, { offset, values }: ShardView): number {
  const rounded = toBFloat16(values);
  return rounded.reduce((count, bits, i) => (weight[offset + i] === bits ? count : count + 1), 0);
}
