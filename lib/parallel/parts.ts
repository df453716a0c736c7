import { createHash } from 'node:crypto';
import { FoldstepError } from '../errors.js';
import { startsOf } from './plan.js';

/** Floats that carry the fingerprint of a list of counts: 16 bits each, which survive being added to zeros. */
const FINGERPRINT = 4;

/**
 * Parts of differing lengths, one a member, laid out as the equal shards that a fused pass takes: each as long as the
 * longest, behind a head in which every member leaves a fingerprint of the counts it was given. The pass itself sees only
 * that the shards are of one length.
 */
export class Parts {
  readonly counts: readonly number[];
  /** Elements of one shard. */
  readonly shardLength: number;
  /** Of all shards. */
  readonly length: number;
  readonly #head: number;
  readonly #starts: Int32Array;
  readonly #fingerprint: Float32Array;

  constructor(counts: readonly number[]) {
    this.counts = counts;
    this.#fingerprint = fingerprintOf(counts);
    this.#head = FINGERPRINT * counts.length;
    this.shardLength = this.#head + counts.reduce((longest, count) => Math.max(longest, count), 0);
    this.length = this.shardLength * counts.length;
    this.#starts = startsOf(counts);
  }

  /** Where a member's part lies among all parts, one after the other. */
  start(member: number): number {
    return this.#starts[member]!;
  }

  /** Where a member's shard lies in the layout. */
  shard(member: number): { readonly begin: number; readonly end: number } {
    return { begin: member * this.shardLength, end: (member + 1) * this.shardLength };
  }

  /** Writes the shard of `member` on behalf of the member `author`. */
  write(layout: Float32Array, member: number, author: number, part: Float32Array): void {
    const { begin } = this.shard(member);
    layout.fill(0, begin, begin + this.#head);
    layout.set(this.#fingerprint, begin + FINGERPRINT * author);
    layout.set(part, begin + this.#head);
  }

  /** The part in the shard of `member`, in the layout's own memory. */
  read(layout: Float32Array, member: number): Float32Array {
    const begin = this.shard(member).begin + this.#head;
    return layout.subarray(begin, begin + this.counts[member]!);
  }

  /** Throws OPERATION_MISMATCH unless `author` was given these counts, as the head of the shard of `member` tells. */
  check(
    layout: Float32Array,
    member: number,
    author: number,
    worldRanks: readonly number[],
    self: number,
  ): void {
    const at = this.shard(member).begin + FINGERPRINT * author;
    if (this.#fingerprint.every((piece, i) => layout[at + i] === piece)) return;
    const [rank, peer] = [worldRanks[self]!, worldRanks[author]!];
    throw new FoldstepError(
      'OPERATION_MISMATCH',
      `rank ${rank} gives the counts [${this.counts.join(', ')}] and rank ${peer} others; every member must give the same`,
      { rank, peer },
    );
  }
}

function fingerprintOf(counts: readonly number[]): Float32Array {
  const digest = createHash('sha256').update(counts.join()).digest();
  return Float32Array.from({ length: FINGERPRINT }, (_, i) => digest.readUInt16LE(2 * i));
}
