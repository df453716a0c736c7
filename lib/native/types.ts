/**
 * What the addon exports, as native/addon defines it: handles, positional arguments, no checks beyond those that keep the
 * process whole. A span is two arguments, a memory and an offset in bytes; enumerations are numbers.
 */
export interface NativeAddon {
  /** Whether openWorld would join a job of MPI's. */
  joinsMpi(launcher: number): boolean;
  openWorld(launcher: number, deadlineMs: number, exitTimeoutMs: number): RawWorld;
  closeWorld(exitCode: number): void;
  createBackend(
    device: number,
    deadlineMs: number,
    threads: number,
    localRank: number,
    localRanks: number,
    collectives: number,
  ): RawBackend;
  /** What a device's library needs of this host, in lines for people; the first is the library itself. */
  probeBackend(device: number): Record<string, string>;
  /** Five numbers a segment: offset, length, group, parameter, counted. */
  createNormPlan(segments: Float64Array, groups: number): RawNormPlan;
  /** Five numbers a segment: master, accumulator, weight, length, group; two a run to clear: offset, length. */
  createUpdatePlan(segments: Float64Array, clears: Float64Array, groups: number): RawUpdatePlan;
  normScalars(groups: number): RawNormScalars;
}

/** The enumerations of native/runtime, in its order. */
export const LAUNCHERS = { auto: 0, mpi: 1, none: 2 } as const;
export const DEVICES = { cpu: 0, cuda: 1, simulated: 2 } as const;
export const COLLECTIVES = { auto: 0, nccl: 1, host: 2 } as const;
export const DTYPES = { float32: 0, float64: 1, bfloat16: 2, int32: 3, uint8: 4 } as const;
export const REDUCE_OPS = { sum: 0, max: 1, min: 2 } as const;
export const PATHS = { direct: 0, owner: 1, exchange: 2, library: 3 } as const;
export const ACCUMULATIONS = { fp32: 0, bf16: 1 } as const;
export const NORM_KINDS = { one: 0, two: 1, power: 2, infinity: 3 } as const;
export const RULES = { sgd: 0, adam: 1, adamw: 2 } as const;

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

export interface RawNormPlan extends RawHandle {
  readonly normPlan: unique symbol;
}

export interface RawUpdatePlan extends RawHandle {
  readonly updatePlan: unique symbol;
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
type SpanOrNone = [memory: RawMemory | null, offset: number];
type Team = [communicator: RawCommunicator, window: RawWindow | null, channel: number];
type Geometry = [begin: number, end: number, replicas: number, shardLength: number];

export interface RawCommunicator extends RawHandle {
  rank(): number;
  size(): number;
  worldRanks(): number[];
  barrier(stream: RawStream): void;
  allReduce(stream: RawStream, ...rest: [...Span, count: number, dtype: number, op: number]): void;
  reduceScatter(
    stream: RawStream,
    ...rest: [...source: Span, ...target: Span, count: number, dtype: number, op: number]
  ): void;
  allGather(
    stream: RawStream,
    ...rest: [...source: Span, ...target: Span, count: number, dtype: number]
  ): void;
  broadcast(stream: RawStream, ...rest: [...Span, count: number, dtype: number, root: number]): void;
  allToAll(
    stream: RawStream,
    ...rest: [
      ...source: Span,
      sendCounts: Float64Array,
      sendOffsets: Float64Array,
      ...target: Span,
      receiveCounts: Float64Array,
      receiveOffsets: Float64Array,
      dtype: number,
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
    ...rest: [...source: Span, from: number, ...target: Span, to: number, count: number]
  ): void;
  copy(stream: RawStream, ...rest: [...source: Span, ...target: Span, bytes: number]): void;
  zero(stream: RawStream, ...rest: [...target: Span, bytes: number]): void;
  normPartials(
    stream: RawStream,
    plan: RawNormPlan,
    kind: number,
    p: number,
    ...rest: [...arena: Span, ...powerScale: SpanOrNone, ...partials: Span]
  ): void;
  powerScale(
    stream: RawStream,
    ...rest: [...gathered: Span, groups: number, ranks: number, ...scale: Span]
  ): void;
  finishNorm(
    stream: RawStream,
    kind: number,
    p: number,
    groups: number,
    ranks: number,
    maxNorm: number,
    groupMaxNorms: Float64Array,
    ...rest: [...gathered: Span, ...powerScale: SpanOrNone, ...scalars: Span]
  ): void;
  update(
    stream: RawStream,
    plan: RawUpdatePlan,
    rule: number,
    learningRate: number,
    weightDecay: number,
    momentum: number,
    nesterov: boolean,
    beta1: number,
    beta2: number,
    epsilon: number,
    step: number,
    ...rest: [
      ...master: Span,
      ...accumulator: Span,
      ...weight: Span,
      ...moment1: SpanOrNone,
      ...moment2: SpanOrNone,
      ...scalars: Span,
    ]
  ): void;
  accumulate(
    stream: RawStream,
    ...rest: [
      ...Team,
      path: number,
      gradientType: number,
      accumulation: number,
      mirror: boolean,
      sharded: boolean,
      scale: number,
      ...Geometry,
      ...gradient: Span,
      ...accumulator: Span,
    ]
  ): void;
  reduce(
    stream: RawStream,
    ...rest: [
      ...Team,
      path: number,
      dtype: number,
      sharded: boolean,
      scale: number,
      ...Geometry,
      ...data: Span,
    ]
  ): void;
  gather(
    stream: RawStream,
    ...rest: [...Team, path: number, dtype: number, ...Geometry, ...data: Span]
  ): void;
}
