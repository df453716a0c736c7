import { createHash } from 'node:crypto';
import { checkWhole } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { show } from '../show.js';
import { typedArray } from '../typed-arrays.js';

/**
 * The choices in their place. Throws INVALID_ARGUMENT, INVALID_LENGTH unless they are [tokens, topK] of experts, no expert
 * twice for one token.
 */
export function checkChoices(given: Int32Array, topK: number, experts: number, rank: number): Int32Array {
  const choices = typedArray(given, 'Int32Array');
  if (choices === undefined) {
    throw new FoldstepError('INVALID_ARGUMENT', `choices must be an Int32Array; it is ${show(given)}`, {
      rank,
    });
  }
  checkWhole('topK', topK, 1);
  if (choices.length % topK !== 0) {
    throw new FoldstepError(
      'INVALID_LENGTH',
      `choices has ${choices.length} elements, which are no whole number of tokens with ${topK} each`,
      { rank },
    );
  }
  // The token that an expert was last chosen for, so that a token's choices need not be compared with each other.
  const chosenFor = new Int32Array(experts).fill(-1);
  for (let i = 0; i < choices.length; i++) {
    const [expert, token] = [choices[i]!, Math.floor(i / topK)];
    if (expert < 0 || expert >= experts) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `token ${token} chooses expert ${expert}; the experts are 0 to ${experts - 1}`,
        { rank },
      );
    }
    if (chosenFor[expert] === token) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `token ${token} chooses expert ${expert} twice ([${choicesOf(choices, token, topK)}]); choose ${topK} different ones`,
        { rank },
      );
    }
    chosenFor[expert] = token;
  }
  return choices;
}

/** A token's choices, for people. */
export function choicesOf(choices: Int32Array, token: number, topK: number): string {
  return choices.subarray(token * topK, (token + 1) * topK).join(', ');
}

const DIGEST_WORDS = 8;

/** What a rank tells the others of its routing, as it travels: words of 32 bits. */
export class RoutingRecord {
  readonly words: Int32Array;

  constructor(words: Int32Array) {
    this.words = words;
  }

  /** `counts`: the rank's own assignments to each expert. */
  static of(choices: Int32Array, topK: number, counts: Int32Array): RoutingRecord {
    const bytes = new Uint8Array(choices.buffer, choices.byteOffset, choices.byteLength);
    const digest = createHash('sha256').update(bytes).digest();
    const words = Array.from({ length: DIGEST_WORDS }, (_, i) => digest.readInt32LE(4 * i));
    return new RoutingRecord(Int32Array.from([choices.length / topK, topK, ...words, ...counts]));
  }

  /** Words of a record of `experts`. */
  static length(experts: number): number {
    return 2 + DIGEST_WORDS + experts;
  }

  get tokens(): number {
    return this.words[0]!;
  }

  get topK(): number {
    return this.words[1]!;
  }

  get counts(): Int32Array {
    return this.words.subarray(2 + DIGEST_WORDS);
  }

  sameShape(other: RoutingRecord): boolean {
    return this.tokens === other.tokens && this.topK === other.topK;
  }

  /** Whether both are of the same choices. */
  sameChoices(other: RoutingRecord): boolean {
    const end = 2 + DIGEST_WORDS;
    return this.words.subarray(0, end).every((word, i) => word === other.words[i]);
  }
}
