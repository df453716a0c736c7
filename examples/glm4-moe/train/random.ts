/**
 * Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011): four random words
 * from a counter of four words and a key of two. It has no state, so that any rank can ask for any number of any step.
 */
export function philox(counter: Words4, key: readonly [number, number]): Words4 {
  let [a, b, c, d] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < ROUNDS; round++) {
    [a, b, c, d] = [
      (highProduct(c, 0xcd9e8d57) ^ b ^ k0) >>> 0,
      Math.imul(c, 0xcd9e8d57) >>> 0,
      (highProduct(a, 0xd2511f53) ^ d ^ k1) >>> 0,
      Math.imul(a, 0xd2511f53) >>> 0,
    ];
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  return [a, b, c, d];
}

export type Words4 = readonly [number, number, number, number];

const ROUNDS = 10;

/** What a number is drawn for: draws for different ends have nothing to do with each other. */
const STREAMS = { batches: 0, sampling: 1, weights: 2 } as const;

/**
 * A number of [0, 1) with 53 random bits that depends on the arguments alone. `seed`: a whole number from 0 to 2^53 - 1;
 * `step` and `index`: below 2^32.
 */
export function uniform(seed: number, stream: keyof typeof STREAMS, step: number, index = 0): number {
  const key = [seed >>> 0, Math.floor(seed / 2 ** 32)] as const;
  const [high, low] = philox([step, index, STREAMS[stream], 0], key);
  return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / 2 ** 53;
}

/** The upper 32 of the product's 64 bits; each partial product is below 2^53. */
function highProduct(a: number, b: number): number {
  const low = Math.floor((a * (b & 0xffff)) / 2 ** 16);
  return Math.floor((a * (b >>> 16) + low) / 2 ** 16);
}
