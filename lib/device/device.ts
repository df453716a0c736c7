import { checkInstance, checkObject, checkWhole } from '../arguments.js';
import { native, nativeAsync } from '../native/errors.js';
import type { RawBackend } from '../native/types.js';
import { Backend } from './backend.js';
import { Buffer } from './buffer.js';
import { checkApart, checkLength, checkSameType, checkView, spanOf, streamOf } from './checks.js';
import { Communicator } from './communicator.js';
import { type AccumulateSpec, prepareAccumulate } from './operations/accumulate.js';
import { type GatherSpec, prepareGather } from './operations/gather.js';
import {
  type FinishNormSpec,
  type NormPartialsSpec,
  type NormScalars,
  normScalars,
  type PowerScaleSpec,
  prepareFinishNorm,
  prepareNormPartials,
  preparePowerScale,
} from './operations/norm.js';
import type { PreparedOperation, RunOfElements } from './operations/prepared.js';
import { prepareReduce, type ReduceSpec } from './operations/reduce.js';
import { prepareUpdate, type UpdateSpec } from './operations/update.js';
import { PeerWindow } from './peer-window.js';
import { Stream } from './stream.js';
import type { View } from './view.js';
import type { OpenWorld } from './world.js';

/** What a device may be called. Another backend may have another name. */
export type DeviceKind = 'cpu' | 'cuda' | 'simulated' | (string & {});

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
        source.dtype,
        ...spanOf(target),
        target.dtype,
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

  /**
   * Prepares adding the team's summed gradients to the accumulator. `enqueue(stream, begin, end)` covers those elements of
   * the flat layout, `enqueue(stream)` all of the geometry. The gradients may be overwritten when the stream has passed it.
   * Throws PATH_UNAVAILABLE too where a path needs a window that the team or the views lack.
   */
  prepareAccumulate(spec: AccumulateSpec): PreparedOperation<RunOfElements> {
    return prepareAccumulate(this, spec);
  }

  /** Prepares summing over the team in place. `enqueue` and errors as for `prepareAccumulate`. */
  prepareReduce(spec: ReduceSpec): PreparedOperation<RunOfElements> {
    return prepareReduce(this, spec);
  }

  /** Prepares copying every member's shard to every other member. `enqueue` and errors as for `prepareAccumulate`. */
  prepareGather(spec: GatherSpec): PreparedOperation<RunOfElements> {
    return prepareGather(this, spec);
  }

  /** Where a finished norm puts what, for a number of groups. Throws INVALID_ARGUMENT. */
  normScalars(groups: number): NormScalars {
    return normScalars(groups);
  }

  /** Prepares this rank's part of a norm. */
  prepareNormPartials(spec: NormPartialsSpec): PreparedOperation {
    return prepareNormPartials(this, spec);
  }

  /** Prepares the scale that the norm kind `power` needs. */
  preparePowerScale(spec: PowerScaleSpec): PreparedOperation {
    return preparePowerScale(this, spec);
  }

  /** Prepares the norm and what follows from it. */
  prepareFinishNorm(spec: FinishNormSpec): PreparedOperation {
    return prepareFinishNorm(this, spec);
  }

  /** Prepares optimizer steps. `enqueue(stream, learningRate, step)` takes one; steps are counted from 1. */
  prepareUpdate(spec: UpdateSpec): PreparedOperation<[learningRate: number, step: number]> {
    return prepareUpdate(this, spec);
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
