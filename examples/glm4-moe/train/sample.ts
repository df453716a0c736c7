import { type Device, FoldstepError } from 'foldstep';
import type { TrainableModel } from './model.ts';
import { uniform } from './random.ts';
import { byteOfRankZero } from './ranks.ts';
import { VOCABULARY } from './text.ts';

export interface SampleOptions {
  readonly device: Device;
  readonly model: TrainableModel;
  /** At least one byte; what lies more than `window` bytes back is not seen. */
  readonly prompt: string;
  /** To generate. */
  readonly bytes: number;
  /** Tokens the model is shown at a time, always as many: padded behind, which a causal model does not see. */
  readonly window: number;
  /** Divides the logits; 0 takes the likeliest byte. Default 0.8. */
  readonly temperature?: number;
  /** Draws among so many of the likeliest bytes. Default 40. */
  readonly topK?: number;
  /** Default 0. */
  readonly seed?: number;
}

/**
 * Continues a prompt; gives the prompt with what follows it, the same on every rank. What is no UTF-8, or would steer a
 * terminal, is replaced. Collective over the world. Throws INVALID_ARGUMENT.
 */
export async function sampleText(options: SampleOptions): Promise<string> {
  const { device, model, prompt, bytes, window, temperature = 0.8, topK = 40, seed = 0 } = options;
  check('bytes', bytes, Number.isSafeInteger(bytes) && bytes >= 0, 'a whole number from 0');
  check('window', window, Number.isSafeInteger(window) && window >= 1, 'a whole number from 1');
  check('topK', topK, Number.isSafeInteger(topK) && topK >= 1, 'a whole number from 1');
  check('temperature', temperature, temperature >= 0 && temperature < Infinity, 'a finite number from 0');
  check('prompt', JSON.stringify(prompt), prompt !== '', 'at least one byte long');
  const text = [...Buffer.from(prompt)];
  for (let i = 0; i < bytes; i++) {
    const seen = text.slice(-window);
    const ids = new Int32Array(window);
    ids.set(seen);
    const logits = await model.logits({ ids, sequences: 1, length: window });
    const vocabulary = logits.length / window;
    const start = (seen.length - 1) * vocabulary;
    // The ranks' logits need not have the same bits: one of them decides.
    const next =
      device.rank === 0
        ? pickToken(
            logits.subarray(start, start + Math.min(vocabulary, VOCABULARY)),
            { temperature, topK },
            uniform(seed, 'sampling', i),
          )
        : 0;
    text.push(await byteOfRankZero(device, next));
  }
  return printable(Uint8Array.from(text));
}

/**
 * Draws an index with the softmax of `logits / temperature` over the `topK` largest; of equal ones the first count as
 * larger. `random`: of [0, 1). Throws INVALID_ARGUMENT for a logit that is not a number.
 */
export function pickToken(
  logits: Float32Array,
  { temperature, topK }: { readonly temperature: number; readonly topK: number },
  random: number,
): number {
  if (logits.some(Number.isNaN)) {
    throw new FoldstepError('INVALID_ARGUMENT', 'there is nothing to sample: the model gives NaN');
  }
  const largest = [...logits.keys()].sort((a, b) => logits[b]! - logits[a]! || a - b).slice(0, topK);
  if (temperature === 0) return largest[0]!;
  const weights = largest.map((index) => Math.exp((logits[index]! - logits[largest[0]!]!) / temperature));
  let rest = random * weights.reduce((sum, weight) => sum + weight, 0);
  const chosen = weights.findIndex((weight) => {
    rest -= weight;
    return rest < 0;
  });
  // Rounding may leave a rest behind the last.
  return largest[chosen === -1 ? largest.length - 1 : chosen]!;
}

function printable(bytes: Uint8Array): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return new TextDecoder().decode(bytes).replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '\ufffd');
}

function check(name: string, value: unknown, holds: boolean, requirement: string): void {
  if (holds) return;
  throw new FoldstepError('INVALID_ARGUMENT', `${name} must be ${requirement}; it is ${String(value)}`);
}
