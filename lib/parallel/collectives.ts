import { checkInstance, checkWhole } from '../arguments.js';
import { Communicator } from '../device/communicator.js';
import { Device } from '../device/device.js';
import { Stream } from '../device/stream.js';
import { FoldstepError } from '../errors.js';
import { Genuine } from '../genuine.js';
import { type GridName, Mesh } from '../mesh/mesh.js';
import { checkCounts, checkFloats, checkValues, newFloats, sum } from './checks.js';
import { Parts } from './parts.js';
import { Scratch, TeamScratch } from './scratch.js';

/**
 * Collectives of a group of ranks on arrays of JavaScript: what a model's forward and backward need of other ranks. All
 * members call the same with the same counts, in one order, one call at a time, and leave what they gave alone until it has
 * resolved; a group of one communicates nothing.
 *
 * Every call throws INVALID_ARGUMENT, INVALID_LENGTH, DISPOSED or BUSY before anything is sent, and rejects on every member
 * with OPERATION_MISMATCH where members differ, DEADLINE_EXCEEDED where one does not come. After a refusal of these, the
 * group is of no further use.
 */
export class GroupCollectives extends Genuine implements Disposable {
  /** Index of this rank in the group. */
  readonly rank: number;
  readonly size: number;
  /** World ranks of the members, in order. */
  readonly worldRanks: readonly number[];
  readonly #device: Device;
  readonly #stream: Stream;
  readonly #communicator: Communicator;
  readonly #team: TeamScratch;
  readonly #outgoing: Scratch;
  readonly #incoming: Scratch;
  #active: string | undefined;
  #disposed = false;

  private constructor(device: Device, stream: Stream, communicator: Communicator, team: TeamScratch) {
    super();
    checkInstance('device', device, Device);
    checkInstance('communicator', communicator, Communicator);
    this.rank = communicator.rank;
    this.size = communicator.size;
    this.worldRanks = communicator.worldRanks;
    this.#device = device;
    this.#stream = stream;
    this.#communicator = communicator;
    this.#team = team;
    this.#outgoing = new Scratch(device);
    this.#incoming = new Scratch(device);
  }

  /**
   * The group of this rank along `axes` of a grid of the mesh. Collective over the world. Throws WORLD_MISMATCH,
   * UNKNOWN_AXIS, INVALID_ARGUMENT; SHARED_MEMORY_TOO_SMALL.
   */
  static async create(
    device: Device,
    mesh: Mesh,
    grid: GridName,
    axes: readonly string[],
    stream?: Stream,
  ): Promise<GroupCollectives> {
    checkInstance('device', device, Device);
    checkInstance('mesh', mesh, Mesh);
    mesh.checkWorld(device.size, device.rank);
    const group = mesh.grid(grid).group(device.rank, axes);
    return GroupCollectives.ofRanksFrom(device, group.at(0), stream);
  }

  /** The group of the ranks that name the same `first`, in rank order. Collective over the world. */
  static async ofRanksFrom(device: Device, first: number, given?: Stream): Promise<GroupCollectives> {
    checkInstance('device', device, Device);
    checkWhole('first', first, 0);
    const stream = given ?? device.stream;
    checkInstance('stream', stream, Stream);
    const communicator = await device.world.split(first, device.rank, stream);
    const team = await TeamScratch.create(device, communicator, stream);
    return new GroupCollectives(device, stream, communicator, team);
  }

  /** The sum over the members, added in their order: the same bits on every one. In place; resolves with `values`. */
  allReduce(values: Float32Array): Promise<Float32Array> {
    return this.#run('allReduce', async () => {
      const floats = checkFloats('values', values);
      const { length } = floats;
      if (this.size === 1) return values;
      const scratch = await this.#team.atLeast(length);
      scratch.array.set(floats);
      scratch.upload(this.#stream, 0, length);
      const { team, path } = this.#team;
      const data = scratch.view.subview(0, length);
      this.#device.prepareReduce({ team, path, data }).enqueueOnce(this.#stream);
      scratch.download(this.#stream, 0, length);
      await this.#stream.synchronize();
      floats.set(scratch.array.subarray(0, length));
      return values;
    });
  }

  /** Every member's `values`, one after the other in member order; `counts` are their lengths. */
  allGather(given: Float32Array, memberCounts: readonly number[]): Promise<Float32Array> {
    return this.#run('allGather', async () => {
      const counts = checkCounts('counts', memberCounts, this.size);
      const values = checkValues('values', given, counts[this.rank]!, 'counts says so');
      if (this.size === 1) return values.slice();
      const parts = new Parts(counts);
      const scratch = await this.#team.atLeast(parts.length);
      const { begin, end } = parts.shard(this.rank);
      parts.write(scratch.array, this.rank, this.rank, values);
      scratch.upload(this.#stream, begin, end);
      const { team, path } = this.#team;
      const data = scratch.view.subview(0, parts.length);
      this.#device.prepareGather({ team, path, data }).enqueueOnce(this.#stream);
      scratch.download(this.#stream, 0, parts.length);
      await this.#stream.synchronize();
      const all = newFloats(sum(counts));
      for (let member = 0; member < this.size; member++) {
        parts.check(scratch.array, member, member, this.worldRanks, this.rank);
        all.set(parts.read(scratch.array, member), parts.start(member));
      }
      return all;
    });
  }

  /**
   * This member's part of the sum of everybody's `values`, added in member order; `counts` are the lengths of the parts.
   * The adjoint of `allGather`.
   */
  reduceScatter(given: Float32Array, memberCounts: readonly number[]): Promise<Float32Array> {
    return this.#run('reduceScatter', async () => {
      const counts = checkCounts('counts', memberCounts, this.size);
      const values = checkValues('values', given, sum(counts), 'the sum of counts');
      if (this.size === 1) return values.slice();
      const parts = new Parts(counts);
      const scratch = await this.#team.atLeast(parts.length);
      for (let member = 0; member < this.size; member++) {
        const start = parts.start(member);
        parts.write(scratch.array, member, this.rank, values.subarray(start, start + counts[member]!));
      }
      scratch.upload(this.#stream, 0, parts.length);
      const geometry = { begin: 0, end: parts.length, replicas: 1, shardLength: parts.shardLength };
      const data = scratch.view.subview(0, parts.length);
      const { team, path } = this.#team;
      this.#device.prepareReduce({ team, path, data, geometry }).enqueueOnce(this.#stream);
      const { begin, end } = parts.shard(this.rank);
      scratch.download(this.#stream, begin, end);
      await this.#stream.synchronize();
      for (let member = 0; member < this.size; member++) {
        parts.check(scratch.array, this.rank, member, this.worldRanks, this.rank);
      }
      return parts.read(scratch.array, this.rank).slice();
    });
  }

  /**
   * Sends member i `sendCounts[i]` of `values`, which lie in member order, and resolves with what came, in member order:
   * `receiveCounts[i]` from member i, which must be what that one sends.
   */
  allToAll(
    given: Float32Array,
    leaving: readonly number[],
    arriving: readonly number[],
  ): Promise<Float32Array> {
    return this.#run('allToAll', async () => {
      const sendCounts = checkCounts('sendCounts', leaving, this.size);
      const receiveCounts = checkCounts('receiveCounts', arriving, this.size);
      const values = checkValues('values', given, sum(sendCounts), 'the sum of sendCounts');
      const length = sum(receiveCounts);
      if (this.size === 1) {
        checkValues('values', values, length, 'a group of one receives what it sends');
        return values.slice();
      }
      const outgoing = this.#outgoing.atLeast(values.length);
      const incoming = this.#incoming.atLeast(length);
      outgoing.array.set(values);
      outgoing.upload(this.#stream, 0, values.length);
      this.#communicator.enqueueAllToAll(
        outgoing.view,
        incoming.view,
        { sendCounts, receiveCounts },
        this.#stream,
      );
      incoming.download(this.#stream, 0, length);
      await this.#stream.synchronize();
      return incoming.array.slice(0, length);
    });
  }

  /** Frees the device's memory. Idempotent. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#outgoing.dispose();
    this.#incoming.dispose();
    this.#team.dispose();
    this.#communicator.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** One at a time: the scratch memory is one call's. */
  async #run(name: string, body: () => Promise<Float32Array>): Promise<Float32Array> {
    const details = { rank: this.worldRanks[this.rank]! };
    if (this.#disposed) {
      throw new FoldstepError('DISPOSED', `${name} of a group that is disposed; create another one`, details);
    }
    if (this.#active !== undefined) {
      const text = `${name} of a group whose ${this.#active} is still under way; await it first`;
      throw new FoldstepError('BUSY', text, details);
    }
    this.#active = name;
    try {
      return await body();
    } finally {
      this.#active = undefined;
    }
  }
}
