import { checkFields, checkList, checkWhole } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { native, nativeAsync } from '../native/errors.js';
import type { RawCommunicator } from '../native/types.js';
import { show } from '../show.js';
import { checkApart, checkLength, checkSameType, checkView, streamOf } from './checks.js';
import { Resource } from './resource.js';
import type { Stream } from './stream.js';
import type { View } from './view.js';

export type ReduceOp = 'sum' | 'max' | 'min';

/** What an all-to-all moves: elements, one count and one offset for each member. Default offsets: one after the other. */
export interface AllToAllBlocks {
  readonly sendCounts: readonly number[];
  readonly sendOffsets?: readonly number[];
  readonly receiveCounts: readonly number[];
  readonly receiveOffsets?: readonly number[];
}

const BLOCK_FIELDS: readonly (keyof AllToAllBlocks)[] = [
  'sendCounts',
  'sendOffsets',
  'receiveCounts',
  'receiveOffsets',
];

/**
 * A group of ranks and its collectives. Every member must issue the same ones in the same order on one stream: a member
 * that does something else fails with OPERATION_MISMATCH on every member, one that does not come with DEADLINE_EXCEEDED
 * naming it. After either, the communicator refuses further use.
 *
 * Each collective comes twice: one resolves when it is done, and its twin `enqueue...` returns at once and reports at the
 * stream's next `synchronize`. Views are checked before anything is enqueued: INVALID_DTYPE, INVALID_LENGTH, DISPOSED.
 */
export class Communicator extends Resource<RawCommunicator> {
  /** Index of this rank in the group. */
  readonly rank: number;
  readonly size: number;
  /** World ranks of the members, in order. */
  readonly worldRanks: readonly number[];
  readonly #stream: Stream;

  /** `stream` is the default of every operation. */
  constructor(handle: RawCommunicator, stream: Stream) {
    super(handle);
    this.rank = native(() => handle.rank());
    this.size = native(() => handle.size());
    this.worldRanks = native(() => handle.worldRanks());
    this.#stream = stream;
  }

  async barrier(stream = this.#stream): Promise<void> {
    this.enqueueBarrier(stream);
    await stream.synchronize();
  }

  enqueueBarrier(stream = this.#stream): void {
    native(() => this.handle.barrier(streamOf(stream)));
  }

  /** In place. BF16 is summed in FP32 in rank order and rounded once. */
  async allReduce(view: View, op: ReduceOp = 'sum', stream = this.#stream): Promise<void> {
    this.enqueueAllReduce(view, op, stream);
    await stream.synchronize();
  }

  enqueueAllReduce(view: View, op: ReduceOp = 'sum', stream = this.#stream): void {
    checkView('view', view);
    native(() =>
      this.handle.allReduce(
        streamOf(stream),
        view.buffer.handle,
        view.byteOffset,
        view.length,
        view.dtype,
        op,
      ),
    );
  }

  /** `source` holds `size` parts, each as long as `target`, which receives this rank's part of the sum. */
  async reduceScatter(
    source: View,
    target: View,
    op: ReduceOp = 'sum',
    stream = this.#stream,
  ): Promise<void> {
    this.enqueueReduceScatter(source, target, op, stream);
    await stream.synchronize();
  }

  enqueueReduceScatter(source: View, target: View, op: ReduceOp = 'sum', stream = this.#stream): void {
    checkPair(source, target);
    checkLength('source', source, target.length * this.size);
    native(() =>
      this.handle.reduceScatter(
        streamOf(stream),
        source.buffer.handle,
        source.byteOffset,
        target.buffer.handle,
        target.byteOffset,
        target.length,
        target.dtype,
        op,
      ),
    );
  }

  /** `target` holds `size` parts, each as long as `source`. */
  async allGather(source: View, target: View, stream = this.#stream): Promise<void> {
    this.enqueueAllGather(source, target, stream);
    await stream.synchronize();
  }

  enqueueAllGather(source: View, target: View, stream = this.#stream): void {
    checkPair(source, target);
    checkLength('target', target, source.length * this.size);
    native(() =>
      this.handle.allGather(
        streamOf(stream),
        source.buffer.handle,
        source.byteOffset,
        target.buffer.handle,
        target.byteOffset,
        source.length,
        source.dtype,
      ),
    );
  }

  /** From the member with index `root`. */
  async broadcast(view: View, root: number, stream = this.#stream): Promise<void> {
    this.enqueueBroadcast(view, root, stream);
    await stream.synchronize();
  }

  enqueueBroadcast(view: View, root: number, stream = this.#stream): void {
    checkView('view', view);
    if (!(Number.isInteger(root) && root >= 0 && root < this.size)) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `root must be a member's index, from 0 to ${this.size - 1}; it is ${show(root)}`,
      );
    }
    native(() =>
      this.handle.broadcast(
        streamOf(stream),
        view.buffer.handle,
        view.byteOffset,
        view.length,
        view.dtype,
        root,
      ),
    );
  }

  /** Default blocks: `source` and `target` in `size` equal parts. What a member sends another, that one must expect. */
  async allToAll(source: View, target: View, blocks?: AllToAllBlocks, stream = this.#stream): Promise<void> {
    this.enqueueAllToAll(source, target, blocks, stream);
    await stream.synchronize();
  }

  enqueueAllToAll(source: View, target: View, blocks?: AllToAllBlocks, stream = this.#stream): void {
    checkPair(source, target);
    const given =
      blocks === undefined ? {} : checkFields('the blocks of an all-to-all', blocks, BLOCK_FIELDS);
    const { sendCounts, sendOffsets, receiveCounts, receiveOffsets }: Partial<AllToAllBlocks> = given;
    const send = this.#blocks('source', source, sendCounts, sendOffsets);
    const receive = this.#blocks('target', target, receiveCounts, receiveOffsets);
    const [sent, received] = [send.counts[this.rank]!, receive.counts[this.rank]!];
    if (sent !== received) {
      throw new FoldstepError(
        'INVALID_LENGTH',
        `member ${this.rank} sends itself ${sent} elements and expects ${received}; the two counts must be the same`,
        { rank: this.worldRanks[this.rank]! },
      );
    }
    native(() =>
      this.handle.allToAll(
        streamOf(stream),
        source.buffer.handle,
        source.byteOffset,
        send.counts,
        send.offsets,
        target.buffer.handle,
        target.byteOffset,
        receive.counts,
        receive.offsets,
        source.dtype,
      ),
    );
  }

  /** Collective. Members with one colour form a group, ordered by `key`, then by rank. Default key: this order. */
  async split(color: number, key = this.rank, stream = this.#stream): Promise<Communicator> {
    checkColor('color', color);
    checkColor('key', key);
    const handle = await nativeAsync(() => this.handle.split(streamOf(stream), color, key));
    return new Communicator(handle, stream);
  }

  #blocks(name: string, view: View, counts?: readonly number[], offsets?: readonly number[]) {
    counts = wholeNumbers(`${name}'s counts`, counts ?? this.#equalParts(name, view));
    offsets = wholeNumbers(`${name}'s offsets`, offsets ?? startsOf(counts));
    if (counts.length !== this.size || offsets.length !== this.size) {
      throw new FoldstepError(
        'INVALID_LENGTH',
        `${name} needs one count and one offset for each of ${this.size} members; it has ${counts.length} and ${offsets.length}`,
      );
    }
    let end = 0;
    for (const [member, count] of counts.entries()) {
      end = Math.max(end, offsets[member]! + count);
    }
    checkView(name, view, undefined, end);
    return { counts: Float64Array.from(counts), offsets: Float64Array.from(offsets) };
  }

  #equalParts(name: string, view: View): number[] {
    if (view.length % this.size !== 0) {
      throw new FoldstepError(
        'INVALID_LENGTH',
        `${name} has ${view.length} elements, which ${this.size} members do not divide; give blocks`,
      );
    }
    return Array<number>(this.size).fill(view.length / this.size);
  }
}

function wholeNumbers(what: string, numbers: readonly number[]): number[] {
  return checkList(what, numbers, (number, member) => {
    checkWhole(`${what}[${member}]`, number, 0);
    return number;
  });
}

function startsOf(counts: readonly number[]): number[] {
  let next = 0;
  return counts.map((count) => {
    const start = next;
    next += count;
    return start;
  });
}

/** Throws INVALID_ARGUMENT unless `value` is a whole number of 32 bits, which is what MPI takes. */
function checkColor(name: string, value: number): void {
  if (typeof value === 'number' && (value | 0) === value) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `${name} must be a whole number of 32 bits; it is ${show(value)}`,
  );
}

function checkPair(source: View, target: View): void {
  checkView('source', source);
  checkView('target', target);
  checkSameType(source, target);
  checkApart(source, target);
}
