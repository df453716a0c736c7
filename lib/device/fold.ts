import { checkFlag, checkInstance, checkNumber, checkObject, checkWhole } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import {
  ACCUMULATIONS,
  DTYPES,
  PATHS,
  type RawBackend,
  type RawCommunicator,
  type RawStream,
  type RawWindow,
} from '../native/types.js';
import { checkView, codeOf } from './checks.js';
import { Communicator } from './communicator.js';
import type { DType } from './dtype.js';
import { PeerWindow } from './peer-window.js';
import type { View } from './view.js';

/** How the members of a team reach each other's data. */
export type FoldPath = keyof typeof PATHS;

/** The group of a fused pass. */
export interface Team {
  readonly communicator: Communicator;
  /** Over all members; without it only `exchange` and `library`, unless the team has one member. */
  readonly window?: PeerWindow;
  /** 0 to 15: teams in one window that have a member in common use different ones. Default 0. */
  readonly channel?: number;
}

/**
 * Which elements of a flat layout a pass covers and where its results go. Member i of the team is replica `i % replicas`
 * of shard `floor(i / replicas)`; shard s is elements `s * shardLength` up to `(s + 1) * shardLength`.
 */
export interface Geometry {
  /** First element covered. */
  readonly begin: number;
  /** One past the last. */
  readonly end: number;
  readonly replicas: number;
  readonly shardLength: number;
}

/** `accumulator += scale * sum over the team of gradient`, on this rank's shard, members added in their order. */
export interface AccumulateRequest {
  readonly path: FoldPath;
  /** BF16 or FP32, from element 0 of the flat layout. On `direct` and `owner` it must lie in the team's window. */
  readonly gradient: View;
  /** FP32, from element 0 of the flat layout or, if `sharded`, of this rank's shard. On `owner`, in the window. */
  readonly accumulator: View;
  /** Default 1. */
  readonly scale?: number;
  /** `bf16`: the scaled sum is rounded, added and rounded again. Default `fp32`. */
  readonly accumulation?: 'fp32' | 'bf16';
  /** Write the scaled sum back into the gradients, rounded to their type. Default false. */
  readonly mirror?: boolean;
  /** `accumulator` holds this rank's shard alone. Default false. */
  readonly sharded?: boolean;
  /** Default: the whole gradient, every member a replica. */
  readonly geometry?: Geometry;
}

/** `data = scale * sum over the team of data`, in place, on this rank's shard; other shards are left as they were. */
export interface ReduceRequest {
  readonly path: FoldPath;
  /** FP32 or BF16; otherwise as `AccumulateRequest.accumulator`. */
  readonly data: View;
  /** Default 1. */
  readonly scale?: number;
  /** `data` holds this rank's shard alone. The team then has one shard. Default false. */
  readonly sharded?: boolean;
  /** Default: all of `data`, every member a replica. */
  readonly geometry?: Geometry;
}

/** Every member's shard copied to every other member. */
export interface GatherRequest {
  readonly path: FoldPath;
  /** Any type, from element 0 of the flat layout. */
  readonly data: View;
  /** `replicas` must be 1. Default: all of `data`, in as many equal shards as the team has members. */
  readonly geometry?: Geometry;
}

const GRADIENT_TYPES: readonly DType[] = ['bfloat16', 'float32'];

/** Checks and enqueues. Throws INVALID_ARGUMENT, INVALID_DTYPE, INVALID_LENGTH, PATH_UNAVAILABLE, DISPOSED. */
export function enqueueAccumulate(
  backend: RawBackend,
  stream: RawStream,
  team: Team,
  request: AccumulateRequest,
): void {
  checkTeam(team);
  checkObject('request', request);
  const { gradient, accumulator, scale = 1, mirror = false, sharded = false } = request;
  checkNumber('scale', scale);
  checkFlag('mirror', mirror);
  checkFlag('sharded', sharded);
  checkView('gradient', gradient, GRADIENT_TYPES);
  const geometry = request.geometry ?? whole(team, gradient);
  checkGeometry(team, geometry);
  checkView('gradient', gradient, GRADIENT_TYPES, geometry.end);
  checkView('accumulator', accumulator, ['float32'], ownEnd(team, geometry, sharded));
  backend.accumulate(
    stream,
    ...teamOf(team),
    codeOf('path', PATHS, request.path),
    DTYPES[gradient.dtype],
    codeOf('accumulation', ACCUMULATIONS, request.accumulation ?? 'fp32'),
    mirror,
    sharded,
    scale,
    ...placesOf(geometry),
    gradient.buffer.handle,
    gradient.byteOffset,
    accumulator.buffer.handle,
    accumulator.byteOffset,
  );
}

/** Checks and enqueues, with the errors of `enqueueAccumulate`. */
export function enqueueReduce(
  backend: RawBackend,
  stream: RawStream,
  team: Team,
  request: ReduceRequest,
): void {
  checkTeam(team);
  checkObject('request', request);
  const { data, scale = 1, sharded = false } = request;
  checkNumber('scale', scale);
  checkFlag('sharded', sharded);
  checkView('data', data, GRADIENT_TYPES);
  const geometry = request.geometry ?? whole(team, data);
  checkGeometry(team, geometry);
  checkView('data', data, GRADIENT_TYPES, sharded ? ownEnd(team, geometry, true) : geometry.end);
  backend.reduce(
    stream,
    ...teamOf(team),
    codeOf('path', PATHS, request.path),
    DTYPES[data.dtype],
    sharded,
    scale,
    ...placesOf(geometry),
    data.buffer.handle,
    data.byteOffset,
  );
}

/** Checks and enqueues, with the errors of `enqueueAccumulate`. */
export function enqueueGather(
  backend: RawBackend,
  stream: RawStream,
  team: Team,
  request: GatherRequest,
): void {
  checkTeam(team);
  checkObject('request', request);
  const { data } = request;
  checkView('data', data);
  const geometry = request.geometry ?? equalShards(team, data);
  checkGeometry(team, geometry);
  checkView('data', data, undefined, geometry.end);
  backend.gather(
    stream,
    ...teamOf(team),
    codeOf('path', PATHS, request.path),
    DTYPES[data.dtype],
    ...placesOf(geometry),
    data.buffer.handle,
    data.byteOffset,
  );
}

function whole({ communicator }: Team, view: View): Geometry {
  return { begin: 0, end: view.length, replicas: communicator.size, shardLength: view.length };
}

function equalShards({ communicator }: Team, view: View): Geometry {
  const shardLength = Math.ceil(view.length / communicator.size);
  return { begin: 0, end: view.length, replicas: 1, shardLength };
}

function checkTeam(team: Team): void {
  checkObject('team', team);
  checkInstance('team.communicator', team.communicator, Communicator);
  if (team.window !== undefined) checkInstance('team.window', team.window, PeerWindow);
  if (team.channel !== undefined) checkWhole('team.channel', team.channel, 0);
}

function checkGeometry({ communicator }: Team, geometry: Geometry): void {
  checkObject('geometry', geometry);
  const { begin, end, replicas, shardLength } = geometry;
  checkWhole('geometry.begin', begin, 0);
  checkWhole('geometry.end', end, begin);
  checkWhole('geometry.replicas', replicas, 1);
  checkWhole('geometry.shardLength', shardLength, 0);
  if (communicator.size % replicas !== 0) {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      `geometry.replicas must divide the team's ${communicator.size} members; it is ${replicas}`,
    );
  }
}

/** Elements that the accumulator needs for what the pass writes of this rank's shard. */
function ownEnd({ communicator }: Team, geometry: Geometry, sharded: boolean): number {
  const { begin, end, replicas, shardLength } = geometry;
  const first = Math.floor(communicator.rank / replicas) * shardLength;
  const last = Math.min(end, first + shardLength);
  if (last <= Math.max(begin, first)) return 0;
  return sharded ? last - first : last;
}

function teamOf({ communicator, window, channel = 0 }: Team): [RawCommunicator, RawWindow | null, number] {
  return [communicator.handle, window?.handle ?? null, channel];
}

function placesOf({ begin, end, replicas, shardLength }: Geometry): [number, number, number, number] {
  return [begin, end, replicas, shardLength];
}
