import { checkFields, checkInstance, checkObject, checkWhole } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { native, nativeAsync } from '../native/errors.js';
import { addon } from '../native/load.js';
import { COLLECTIVES, DEVICES, DTYPES, type RawBackend } from '../native/types.js';
import { Backend } from './backend.js';
import { Buffer } from './buffer.js';
import { checkApart, checkLength, checkSameType, checkView, codeOf, spanOf, streamOf } from './checks.js';
import { Communicator } from './communicator.js';
import {
  type AccumulateRequest,
  enqueueAccumulate,
  enqueueGather,
  enqueueReduce,
  type GatherRequest,
  type ReduceRequest,
  type Team,
} from './fold.js';
import {
  enqueueFinishNorm,
  enqueueNormPartials,
  enqueuePowerScale,
  enqueueUpdate,
  type UpdateArenas,
} from './optimizer-operations.js';
import { PeerWindow } from './peer-window.js';
import {
  type ClearedRun,
  type FinishNormRequest,
  type NormKind,
  NormPlan,
  type NormScalars,
  type NormSegment,
  normScalars,
  UpdatePlan,
  type UpdateSegment,
  type UpdateSettings,
} from './plans.js';
import { Stream } from './stream.js';
import type { View } from './view.js';
import { type Launcher, type OpenWorld, openWorld } from './world.js';

const MOST_THREADS = 1024;
const OPTION_FIELDS = ['device', 'launcher', 'deadlineMs', 'exitTimeoutMs', 'threads', 'collectives'];

export { DEVICES };
export type DeviceKind = keyof typeof DEVICES;

export interface InitOptions {
  /**
   * What computes. `cpu` by default. `cuda`: one GPU a rank, chosen by its place among the ranks of the host. `simulated`:
   * the GPU backend on a device that is simulated on the CPU, for tests; it is in no release.
   */
  readonly device?: DeviceKind;
  /**
   * What carries collectives on GPUs. `nccl` needs a GPU of its own for every rank. `host`: MPI, through pinned memory.
   * `auto` by default: `nccl` where it can be. Of no effect on the CPU.
   */
  readonly collectives?: keyof typeof COLLECTIVES;
  /** `mpi`: one of the job's ranks. `none`: alone. `auto`: as an MPI launcher started this process or not. Default `auto`. */
  readonly launcher?: Launcher;
  /**
   * Of everything that waits for another rank, in whole milliseconds. Default 60000. More than a hundred years is taken for
   * a hundred years.
   */
  readonly deadlineMs?: number;
  /**
   * A rank that ends well leaves the job when all others end. After `deadlineMs` it tells on stderr which are still running,
   * and this many milliseconds later it ends the job with exit code 1. Default 600000.
   */
  readonly exitTimeoutMs?: number;
  /** That share this rank's element loops. Default: the host's cores divided by its ranks. */
  readonly threads?: number;
}

/**
 * Joins the job that this process was started in, or works alone. Blocks until every rank has come. Under MPI the job ends
 * with the process: a clean exit leaves it, any other takes all ranks down with the exit code.
 *
 * Under MPI one device at a time, on the main thread; alone, any number, in any thread. Throws INVALID_ARGUMENT,
 * ADDON_NOT_BUILT, BUSY, DEADLINE_EXCEEDED where a rank does not come; MPI_UNAVAILABLE, also where the launcher tells of
 * other ranks than MPI finds, and in a process that a rank started; DEVICE_UNAVAILABLE, DEVICE_FAILED, DEVICE_SHARED, NCCL_FAILED.
 */
export async function init(options: InitOptions = {}): Promise<Device> {
  const {
    device = 'cpu',
    launcher = 'auto',
    deadlineMs = 60_000,
    exitTimeoutMs = 600_000,
    threads = 0,
    collectives = 'auto',
  } = checkFields('the options of init', options, OPTION_FIELDS);
  const kind = codeOf('device', DEVICES, device);
  const carrier = codeOf('collectives', COLLECTIVES, collectives);
  checkWhole('deadlineMs', deadlineMs, 1);
  checkWhole('exitTimeoutMs', exitTimeoutMs, 0);
  checkWhole('threads', threads, 0);
  if (threads > MOST_THREADS) {
    throw new FoldstepError('INVALID_ARGUMENT', `threads must be at most ${MOST_THREADS}; it is ${threads}`);
  }
  const world = openWorld(launcher, deadlineMs, exitTimeoutMs);
  try {
    const { localRank, localSize } = world;
    return new Device(
      device,
      native(() => addon().createBackend(kind, deadlineMs, threads, localRank, localSize, carrier)),
      world,
    );
  } catch (error) {
    world.leave();
    throw error;
  }
}

/** Bytes that foldstep's operations hold besides their arguments, as measured. */
export interface Temporaries {
  readonly currentBytes: number;
  /** The most at a time since `resetPeak`. */
  readonly peakBytes: number;
  resetPeak(): void;
}

/**
 * One rank's processor: its memory, streams and operations. An operation is checked, enqueued on a stream, by default the
 * device's own, and returns at once; `Stream.synchronize` tells when it is done and whether it failed. Operations throw
 * INVALID_ARGUMENT, INVALID_DTYPE, INVALID_LENGTH or DISPOSED before anything is enqueued.
 */
export class Device extends Backend {
  readonly kind: DeviceKind;
  /** World rank. */
  readonly rank: number;
  /** Ranks in the world. */
  readonly size: number;
  /** Lowest world rank among those that share memory with this one. */
  readonly node: number;
  /** Among the ranks of the node. */
  readonly localRank: number;
  readonly localSize: number;
  /** MPI's name and version, or `none`. */
  readonly library: string;
  readonly world: Communicator;
  /** The default of every operation. */
  readonly stream: Stream;
  readonly temporaries: Temporaries;
  readonly #leaveWorld: () => void;
  // Held until they are disposed of: what was enqueued on a stream that nobody holds must still run.
  readonly #streams = new Set<Stream>();

  /** Use `init`. */
  constructor(kind: DeviceKind, handle: RawBackend, world: OpenWorld) {
    super(handle);
    checkObject('world', world);
    this.kind = kind;
    this.stream = this.createStream();
    this.world = new Communicator(
      native(() => handle.join(world.communicator)),
      this.stream,
    );
    this.rank = this.world.rank;
    this.size = this.world.size;
    this.node = world.node;
    this.localRank = world.localRank;
    this.localSize = world.localSize;
    this.library = world.library;
    this.#leaveWorld = world.leave;
    this.temporaries = {
      get currentBytes() {
        return native(() => handle.currentBytes());
      },
      get peakBytes() {
        return native(() => handle.peakBytes());
      },
      resetPeak: () => native(() => handle.resetPeak()),
    };
  }

  /** Facts for people: instruction set, threads and so on. */
  describe(): Record<string, string> {
    return native(() => this.handle.describe());
  }

  /** Of its own thread: its operations run beside those of other streams. */
  createStream(): Stream {
    const stream = new Stream(
      native(() => this.handle.createStream()),
      (disposed) => this.#streams.delete(disposed),
    );
    this.#streams.add(stream);
    return stream;
  }

  /** Zeroed memory of the device. Throws OUT_OF_MEMORY. */
  allocate(bytes: number): Buffer {
    checkWhole('bytes', bytes, 0);
    return new Buffer(native(() => this.handle.allocate(bytes)));
  }

  /** Zeroed memory that JavaScript sees and the device copies to and from at full speed. Throws OUT_OF_MEMORY. */
  allocateHost(bytes: number): Buffer {
    checkWhole('bytes', bytes, 0);
    return new Buffer(native(() => this.handle.allocateHost(bytes)));
  }

  /**
   * Zeroed memory that every member reaches. Collective over `communicator`, whose members must share memory and give the
   * same `bytes`. Rejects with SHARED_MEMORY_TOO_SMALL or SHARED_MEMORY_UNAVAILABLE on every member.
   */
  async createWindow(communicator: Communicator, bytes: number, stream = this.stream): Promise<PeerWindow> {
    checkInstance('communicator', communicator, Communicator);
    checkWhole('bytes', bytes, 0);
    const handle = await nativeAsync(() =>
      this.handle.createWindow(streamOf(stream), communicator.handle, bytes),
    );
    return new PeerWindow(handle);
  }

  /** BF16 to FP32, or FP32 to BF16 rounded to nearest even. */
  cast(source: View, target: View, stream = this.stream): void {
    checkPair(source, target);
    native(() =>
      this.handle.cast(
        streamOf(stream),
        ...spanOf(source),
        DTYPES[source.dtype],
        ...spanOf(target),
        DTYPES[target.dtype],
        source.length,
      ),
    );
  }

  /** Between views of one type and length that do not overlap. */
  copy(source: View, target: View, stream = this.stream): void {
    checkPair(source, target);
    checkSameType(source, target);
    native(() => this.handle.copy(streamOf(stream), ...spanOf(source), ...spanOf(target), source.byteLength));
  }

  zero(target: View, stream = this.stream): void {
    checkView('target', target);
    native(() => this.handle.zero(streamOf(stream), ...spanOf(target), target.byteLength));
  }

  /** Adds the team's summed gradients to the accumulator. The gradients may be overwritten when the stream has passed it. */
  accumulate(team: Team, request: AccumulateRequest, stream = this.stream): void {
    native(() => enqueueAccumulate(this.handle, streamOf(stream), team, request));
  }

  /** Sums over the team in place. */
  reduce(team: Team, request: ReduceRequest, stream = this.stream): void {
    native(() => enqueueReduce(this.handle, streamOf(stream), team, request));
  }

  /** Copies every member's shard to every other member. */
  gather(team: Team, request: GatherRequest, stream = this.stream): void {
    native(() => enqueueGather(this.handle, streamOf(stream), team, request));
  }

  createNormPlan(segments: readonly NormSegment[], groups: number): NormPlan {
    return new NormPlan(segments, groups);
  }

  /** `groups` are those of the norm whose coefficients it takes. */
  createUpdatePlan(
    segments: readonly UpdateSegment[],
    clears: readonly ClearedRun[],
    groups: number,
  ): UpdatePlan {
    return new UpdatePlan(segments, clears, groups);
  }

  /** Where `finishNorm` puts what, for a number of groups. */
  normScalars(groups: number): NormScalars {
    return normScalars(groups);
  }

  /**
   * This rank's part of a norm of `arena` (FP32) into `partials` (FP64). `powerScale` (one FP64, written by the method of
   * that name) is read for the kind `power` alone.
   */
  normPartials(
    plan: NormPlan,
    kind: NormKind,
    p: number,
    arena: View,
    powerScale: View | null,
    partials: View,
    stream = this.stream,
  ): void {
    native(() =>
      enqueueNormPartials(this.handle, streamOf(stream), { plan, kind, p, arena, powerScale, partials }),
    );
  }

  /** The scale for the kind `power`, from the partials of the kind `infinity` of every rank, in rank order. */
  powerScale(gathered: View, groups: number, ranks: number, scale: View, stream = this.stream): void {
    native(() => enqueuePowerScale(this.handle, streamOf(stream), gathered, groups, ranks, scale));
  }

  /** The norm and what follows from it into `scalars` (FP64), from the partials of every rank, in rank order. */
  finishNorm(
    request: FinishNormRequest,
    gathered: View,
    powerScale: View | null,
    scalars: View,
    stream = this.stream,
  ): void {
    native(() => enqueueFinishNorm(this.handle, streamOf(stream), request, gathered, powerScale, scalars));
  }

  /** One optimizer step with the coefficients in `scalars`; if they say skip, accumulators are cleared and no more. */
  update(
    plan: UpdatePlan,
    settings: UpdateSettings,
    arenas: UpdateArenas,
    scalars: View,
    stream = this.stream,
  ): void {
    native(() => enqueueUpdate(this.handle, streamOf(stream), plan, settings, arenas, scalars));
  }

  /**
   * Ends its streams, cancelling what is not done; blocks only for the operations that are running. Buffers live on until
   * they are disposed of or collected.
   */
  override dispose(): void {
    for (const stream of this.#streams) stream.dispose();
    this.world.dispose();
    super.dispose();
    this.#leaveWorld();
  }
}

function checkPair(source: View, target: View): void {
  checkView('source', source);
  checkView('target', target);
  checkLength('target', target, source.length);
  checkApart(source, target);
}
