import { checkFields, checkInstance, checkWhole } from '../../arguments.js';
import type { RawGeometry, RawHandle, RawTeam } from '../../native/types.js';
import { Communicator } from '../communicator.js';
import { PeerWindow } from '../peer-window.js';
import type { Resource } from '../resource.js';
import type { View } from '../view.js';

/** How the members of a team reach each other's data. */
export type FoldPath = 'direct' | 'owner' | 'exchange' | 'library';

/** A group of ranks that sum or copy each other's data. */
export interface Team {
  readonly communicator: Communicator;
  /** Over all members. Without it, a team of several members can use only `exchange` and `library`. */
  readonly window?: PeerWindow;
  /** 0 to 15. Teams that share a window and a member must use different channels. Default 0. */
  readonly channel?: number;
}

/**
 * Which elements of a flat layout an operation covers and where its results go. Member i of the team is replica
 * `i % replicas` of shard `floor(i / replicas)`. Shard s is elements `s * shardLength` up to `(s + 1) * shardLength`.
 */
export interface Geometry {
  /** First element covered. */
  readonly begin: number;
  /** One past the last. */
  readonly end: number;
  readonly replicas: number;
  readonly shardLength: number;
}

const GEOMETRY_FIELDS: readonly (keyof Geometry)[] = ['begin', 'end', 'replicas', 'shardLength'];

/** The fields of a team, each read once. Throws INVALID_ARGUMENT for what is no team. */
export function checkTeam(given: Team): Team {
  const team = checkFields('team', given, ['communicator', 'window', 'channel']);
  checkInstance('team.communicator', team.communicator, Communicator);
  if (team.window !== undefined) checkInstance('team.window', team.window, PeerWindow);
  if (team.channel !== undefined) checkWhole('team.channel', team.channel, 0);
  return team;
}

/** The fields of a geometry. Throws INVALID_ARGUMENT if it is none. Native code checks whether it fits the team and the views. */
export function checkGeometry(given: Geometry): RawGeometry {
  const { begin, end, replicas, shardLength } = checkFields('geometry', given, GEOMETRY_FIELDS);
  checkWhole('geometry.begin', begin, 0);
  checkWhole('geometry.end', end, begin);
  checkWhole('geometry.replicas', replicas, 1);
  checkWhole('geometry.shardLength', shardLength, 0);
  return { begin, end, replicas, shardLength };
}

/** All of `view`, every member a replica. */
export function wholeOf({ communicator }: Team, view: View): Geometry {
  return { begin: 0, end: view.length, replicas: communicator.size, shardLength: view.length };
}

export function rawTeam({ communicator, window, channel = 0 }: Team): RawTeam {
  return { communicator: communicator.handle, window: window?.handle ?? null, channel };
}

/** What must be alive when an operation of the team is enqueued. */
export function resourcesOf({ communicator, window }: Team, views: readonly View[]): Resource<RawHandle>[] {
  const resources: Resource<RawHandle>[] = [communicator, ...views.map(({ buffer }) => buffer)];
  return window === undefined ? resources : [...resources, window];
}
