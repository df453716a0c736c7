import { createHash } from 'node:crypto';

/** Something that all members of a group of ranks must say alike. */
export interface Claim {
  /** What is claimed, and of which group: the same on all its members, and of no other group. */
  readonly about: string;
  readonly members: number;
  /** This rank's place among them. */
  readonly index: number;
  readonly value: string;
}

/** Numbers of a balance. A difference that nobody meant goes unseen once in 2^88 times. */
export const WORDS = 4;

// A prime, so that no number of members up to it makes a difference vanish. Sums of 2^31 ranks' words stay below 2^53, up to which
// FP64 adds whole numbers exactly, in whatever order.
const MODULUS = 2 ** 22 - 3;

/**
 * Words of which the sums over all ranks say whether every group agrees in itself, however many groups there are: the first
 * of n members adds n - 1 times the digest of its claim, and each of the others takes the digest of its own away.
 */
export class Balance {
  readonly words = new Float64Array(WORDS);

  add({ about, members, index, value }: Claim): void {
    if (members === 1) return;
    const digest = createHash('sha256').update(`${about}\n${value}`).digest();
    const weight = index === 0 ? members - 1 : -1;
    for (let word = 0; word < WORDS; word++) {
      const term = (weight * (digest.readUInt32LE(4 * word) % MODULUS)) % MODULUS;
      this.words[word] = (this.words[word]! + term + MODULUS) % MODULUS;
    }
  }

  addAll(claims: Iterable<Claim>): this {
    for (const claim of claims) this.add(claim);
    return this;
  }

  merge(other: Balance): void {
    for (let word = 0; word < WORDS; word++) {
      this.words[word] = (this.words[word]! + other.words[word]!) % MODULUS;
    }
  }
}

/** Whether the claims agree of which `sums` are the words, summed over the ranks. */
export function isBalanced(sums: Float64Array): boolean {
  return sums.every((sum) => sum % MODULUS === 0);
}
