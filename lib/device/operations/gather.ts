import { checkFields } from '../../arguments.js';
import { native } from '../../native/errors.js';
import { checkView, rawSpan } from '../checks.js';
import type { View } from '../view.js';
import { PreparedOperation, type Preparer, type RunOfElements } from './prepared.js';
import {
  checkGeometry,
  checkTeam,
  type FoldPath,
  type Geometry,
  rawTeam,
  resourcesOf,
  type Team,
} from './team.js';

/** Copies every member's shard to every other member. */
export interface GatherSpec {
  readonly team: Team;
  readonly path: FoldPath;
  /** Any type, from element 0 of the flat layout. */
  readonly data: View;
  /** `replicas` must be 1. Default: all of `data`, in as many equal shards as the team has members. */
  readonly geometry?: Geometry;
}

const FIELDS: readonly (keyof GatherSpec)[] = ['team', 'path', 'data', 'geometry'];

/** See `Device.prepareGather`. */
export function prepareGather(device: Preparer, spec: GatherSpec): PreparedOperation<RunOfElements> {
  const given = checkFields('the spec of a gather', spec, FIELDS);
  const team = checkTeam(given.team);
  const { path, data } = given;
  checkView('data', data);
  const geometry = checkGeometry(given.geometry ?? equalShards(team, data));
  const handle = native(() =>
    device.handle.prepareGather({
      team: rawTeam(team),
      path,
      dtype: data.dtype,
      geometry,
      data: rawSpan(data),
    }),
  );
  return new PreparedOperation(handle, device.stream, resourcesOf(team, [data]));
}

function equalShards({ communicator }: Team, view: View): Geometry {
  const shardLength = Math.ceil(view.length / communicator.size);
  return { begin: 0, end: view.length, replicas: 1, shardLength };
}
