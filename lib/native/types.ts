/**
 * What the addon exports, as native/addon defines it: handles, and checks no more than keep the process whole. A span of a
 * positional call is two arguments, a memory and an offset in bytes. Enumerations go by their names, which native code
 * checks.
 */
export interface NativeAddon {
  /** Whether openWorld would join a job of MPI's. */
  joinsMpi(launcher: string): boolean;
  openWorld(launcher: string, deadlineMs: number, exitTimeoutMs: number): RawWorld;
  closeWorld(exitCode: number): void;
  /** What a device may be called. */
  backendNames(): string[];
  createBackend(
    device: string,
    deadlineMs: number,
    threads: number,
    localRank: number,
    localRanks: number,
    collectives: string,
  ): RawBackend;
  /** What a device's library needs of this host, in lines for people; the first is the library itself. */
  probeBackend(device: string): Record<string, string>;
  normScalars(groups: number): RawNormScalars;
}

export interface RawHandle {
  release(): void;
}

export interface RawWorld {
  readonly communicator: RawCommunicator;
  readonly library: string;
  readonly node: number;
  readonly localRank: number;
  readonly localSize: number;
}

export interface RawStream extends RawHandle {
  synchronize(): Promise<void>;
  nativeHandle(): bigint;
}

export interface RawMemory extends RawHandle {
  bytes(): number;
  arrayBuffer(offset: number, bytes: number): ArrayBuffer;
  hostAccessible(): boolean;
  address(): bigint;
  read(offset: number, target: NodeJS.TypedArray): void;
  write(offset: number, source: NodeJS.TypedArray): void;
}

export interface RawWindow extends RawHandle {
  slab(): RawMemory;
  worldRanks(): number[];
}

/** A device operation that was checked once. `values` are what may differ from call to call. */
export interface RawOperation extends RawHandle {
  enqueue(stream: RawStream, ...values: readonly number[]): void;
}

/** Places in the FP64 array of a norm's result, and the length of one rank's partials. */
export interface RawNormScalars {
  readonly norm: number;
  readonly firstGroupNorm: number;
  readonly firstCoefficient: number;
  readonly skip: number;
  readonly rank: number;
  readonly parameter: number;
  readonly length: number;
  readonly partialsLength: number;
}

type Span = [memory: RawMemory, offset: number];

/** A run of a memory. Both numbers are in bytes. */
export interface RawSpan {
  readonly memory: RawMemory;
  readonly offset: number;
  readonly bytes: number;
}

export interface RawTeam {
  readonly communicator: RawCommunicator;
  readonly window: RawWindow | null;
  readonly channel: number;
}

export interface RawGeometry {
  readonly begin: number;
  readonly end: number;
  readonly replicas: number;
  readonly shardLength: number;
}

interface RawFold {
  readonly team: RawTeam;
  readonly path: string;
  readonly dtype: string;
  readonly geometry: RawGeometry;
}

export interface RawAccumulate extends RawFold {
  readonly accumulation: string;
  readonly mirror: boolean;
  readonly sharded: boolean;
  readonly scale: number;
  readonly gradient: RawSpan;
  readonly accumulator: RawSpan;
}

export interface RawReduce extends RawFold {
  readonly sharded: boolean;
  readonly scale: number;
  readonly data: RawSpan;
}

export interface RawGather extends RawFold {
  readonly data: RawSpan;
}

export interface RawNormPartials {
  /** Five numbers a segment: offset, length, group, parameter, counted. */
  readonly segments: Float64Array;
  readonly groups: number;
  readonly kind: string;
  readonly p: number;
  readonly arena: RawSpan;
  readonly powerScale: RawSpan | undefined;
  readonly partials: RawSpan;
}

export interface RawPowerScale {
  readonly groups: number;
  readonly ranks: number;
  readonly gathered: RawSpan;
  readonly scale: RawSpan;
}

export interface RawFinishNorm {
  readonly kind: string;
  readonly p: number;
  readonly groups: number;
  readonly ranks: number;
  readonly maxNorm: number;
  readonly groupMaxNorms: Float64Array;
  readonly gathered: RawSpan;
  readonly powerScale: RawSpan | undefined;
  readonly scalars: RawSpan;
}

export interface RawUpdate {
  readonly rule: string;
  readonly weightDecay: number;
  readonly momentum: number;
  readonly nesterov: boolean;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Five numbers a segment: master, accumulator, weight, length, group. */
  readonly segments: Float64Array;
  /** Two numbers a run: offset, length. */
  readonly clears: Float64Array;
  readonly groups: number;
  readonly master: RawSpan;
  readonly accumulator: RawSpan;
  readonly weight: RawSpan;
  readonly moment1: RawSpan | undefined;
  readonly moment2: RawSpan | undefined;
  readonly scalars: RawSpan;
}

export interface RawCommunicator extends RawHandle {
  rank(): number;
  size(): number;
  worldRanks(): number[];
  barrier(stream: RawStream): void;
  allReduce(stream: RawStream, ...rest: [...Span, count: number, dtype: string, op: string]): void;
  reduceScatter(
    stream: RawStream,
    ...rest: [...source: Span, ...target: Span, count: number, dtype: string, op: string]
  ): void;
  allGather(
    stream: RawStream,
    ...rest: [...source: Span, ...target: Span, count: number, dtype: string]
  ): void;
  broadcast(stream: RawStream, ...rest: [...Span, count: number, dtype: string, root: number]): void;
  allToAll(
    stream: RawStream,
    ...rest: [
      ...source: Span,
      sendCounts: Float64Array,
      sendOffsets: Float64Array,
      ...target: Span,
      receiveCounts: Float64Array,
      receiveOffsets: Float64Array,
      dtype: string,
    ]
  ): void;
  split(stream: RawStream, color: number, key: number): Promise<RawCommunicator>;
}

export interface RawBackend extends RawHandle {
  describe(): Record<string, string>;
  createStream(): RawStream;
  allocate(bytes: number): RawMemory;
  allocateHost(bytes: number): RawMemory;
  wrap(address: bigint, bytes: number): RawMemory;
  join(world: RawCommunicator): RawCommunicator;
  createWindow(stream: RawStream, communicator: RawCommunicator, bytes: number): Promise<RawWindow>;
  currentBytes(): number;
  peakBytes(): number;
  resetPeak(): void;
  cast(
    stream: RawStream,
    ...rest: [...source: Span, from: string, ...target: Span, to: string, count: number]
  ): void;
  copy(stream: RawStream, ...rest: [...source: Span, ...target: Span, bytes: number]): void;
  zero(stream: RawStream, ...rest: [...target: Span, bytes: number]): void;
  prepareAccumulate(spec: RawAccumulate): RawOperation;
  prepareReduce(spec: RawReduce): RawOperation;
  prepareGather(spec: RawGather): RawOperation;
  prepareNormPartials(spec: RawNormPartials): RawOperation;
  preparePowerScale(spec: RawPowerScale): RawOperation;
  prepareFinishNorm(spec: RawFinishNorm): RawOperation;
  /** Its values are the learning rate and the step, counted from 1. */
  prepareUpdate(spec: RawUpdate): RawOperation;
}
