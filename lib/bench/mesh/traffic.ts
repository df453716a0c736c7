import type { Recorded, RecordedFold } from './recorder.js';

/** What passes cost one rank. */
export interface Traffic {
  /** Into the rank from other ranks, whether through memory or a network. */
  readonly bytes: number;
  /** The part of them from ranks that do not share memory with it. */
  readonly bytesBetweenNodes: number;
  /** Sent by the rank. Passes in shared memory send none; MPI's own collectives are counted as rings. */
  readonly messages: number;
  /** Held by one pass at the most, besides its arguments. */
  readonly temporaryBytes: number;
}

const NONE: Traffic = { bytes: 0, bytesBetweenNodes: 0, messages: 0, temporaryBytes: 0 };
const FP32_BYTES = 4;
/** Of native/cpu/fold/exchange.cpp, as are the chunks that follow from it; a test holds them against the ledger. */
const EXCHANGE_BUFFER_BYTES = 2 ** 20;
const EXCHANGE_GRAIN = 64;

/** Of all passes together. `node`: the world ranks that share memory with this one, itself among them. */
export function trafficOf(passes: readonly Recorded[], node: readonly number[]): Traffic {
  return passes.map((pass) => passTraffic(pass, node)).reduce(add, NONE);
}

function add(a: Traffic, b: Traffic): Traffic {
  return {
    bytes: a.bytes + b.bytes,
    bytesBetweenNodes: a.bytesBetweenNodes + b.bytesBetweenNodes,
    messages: a.messages + b.messages,
    temporaryBytes: Math.max(a.temporaryBytes, b.temporaryBytes),
  };
}

function passTraffic(pass: Recorded, node: readonly number[]): Traffic {
  if (pass.kind === 'world-gather') {
    return {
      bytes: (pass.ranks - 1) * pass.bytes,
      bytesBetweenNodes: Math.max(0, pass.ranks - node.length) * pass.bytes,
      messages: pass.ranks - 1,
      temporaryBytes: 0,
    };
  }
  if (pass.group.size === 1) return NONE;
  return pass.path === 'library' ? libraryTraffic(pass, node) : foldedTraffic(pass, node);
}

/** Direct, owner and exchange: every byte goes from the rank that has it to the one that needs it. */
function foldedTraffic(pass: RecordedFold, node: readonly number[]): Traffic {
  const { group, path, kind } = pass;
  const near = node
    .map((rank) => group.indexOf(rank))
    .filter((member) => member >= 0 && member !== group.index)
    .reduce((sum, member) => sum + bytesFrom(pass, isReplica(pass, member)), 0);
  const { replicas } = pass.geometry;
  const bytes = (replicas - 1) * bytesFrom(pass, true) + (group.size - replicas) * bytesFrom(pass, false);
  if (path !== 'exchange') return { bytes, bytesBetweenNodes: bytes - near, messages: 0, temporaryBytes: 0 };
  const { chunks, temporaryBytes } =
    kind === 'gather' ? { chunks: 1, temporaryBytes: 0 } : exchangeChunks(pass);
  const toEach = kind === 'gather' ? group.size - 1 : group.size - 1 + replicas - 1;
  return { bytes, bytesBetweenNodes: bytes - near, messages: chunks * toEach, temporaryBytes };
}

/** From another member, by whether it is a replica of this rank's shard. */
function bytesFrom(pass: RecordedFold, replica: boolean): number {
  const { kind, path, width, geometry } = pass;
  const shard = covered(pass);
  if (kind === 'gather' || (kind === 'accumulate' && path === 'direct')) return shard * width;
  const owned = Math.ceil(shard / geometry.replicas);
  const result = kind === 'accumulate' ? FP32_BYTES : width;
  return owned * width + (replica ? owned * result : 0);
}

/** Elements of this rank's shard that the pass covers. */
function covered({ group, geometry }: RecordedFold): number {
  const { begin, end, replicas, shardLength } = geometry;
  const first = Math.floor(group.index / replicas) * shardLength;
  return Math.max(0, Math.min(end, first + shardLength) - Math.max(begin, first));
}

function isReplica({ group, geometry }: RecordedFold, member: number): boolean {
  const shardOf = (index: number): number => Math.floor(index / geometry.replicas);
  return shardOf(member) === shardOf(group.index);
}

/** The chunks that one member's part goes in, and the two buffers they are received into. */
export function exchangeChunks(pass: RecordedFold): { chunks: number; temporaryBytes: number } {
  const { geometry, group, width } = pass;
  const longest = Math.ceil(
    Math.min(geometry.shardLength, geometry.end - geometry.begin) / geometry.replicas,
  );
  if (longest === 0) return { chunks: 0, temporaryBytes: 0 };
  const peers = group.size - 1;
  const fitting = Math.max(1, Math.floor(EXCHANGE_BUFFER_BYTES / (peers * width)));
  const grained = fitting < EXCHANGE_GRAIN ? fitting : fitting - (fitting % EXCHANGE_GRAIN);
  const chunk = Math.min(longest, grained);
  const chunks = Math.ceil(longest / chunk);
  return { chunks, temporaryBytes: peers * chunk * width * Math.min(chunks, 2) };
}

/** MPI's all-reduce of an FP32 copy of everything covered; what a ring moves, which is the least. */
function libraryTraffic({ kind, group, geometry, width }: RecordedFold, node: readonly number[]): Traffic {
  const { size } = group;
  const elements = geometry.end - geometry.begin;
  const apart = node.filter((rank) => group.indexOf(rank) >= 0).length < size;
  if (kind === 'gather') {
    const bytes = (size - 1) * geometry.shardLength * width;
    return { bytes, bytesBetweenNodes: apart ? bytes : 0, messages: size - 1, temporaryBytes: 0 };
  }
  const bytes = (2 * (size - 1) * elements * FP32_BYTES) / size;
  const inPlace = kind === 'reduce' && width === FP32_BYTES && geometry.replicas === size;
  return {
    bytes,
    bytesBetweenNodes: apart ? bytes : 0,
    messages: 2 * (size - 1),
    temporaryBytes: inPlace ? 0 : elements * FP32_BYTES,
  };
}
