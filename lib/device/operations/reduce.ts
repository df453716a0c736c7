import { checkFields, checkFlag, checkNumber } from '../../arguments.js';
import { native } from '../../native/errors.js';
import { checkView, rawSpan } from '../checks.js';
import type { View } from '../view.js';
import { GRADIENT_TYPES } from './accumulate.js';
import { PreparedOperation, type Preparer, type RunOfElements } from './prepared.js';
import {
  checkGeometry,
  checkTeam,
  type FoldPath,
  type Geometry,
  rawTeam,
  resourcesOf,
  type Team,
  wholeOf,
} from './team.js';

/** `data = scale * sum over the team of data`, in place, on this rank's shard. Other shards stay as they were. */
export interface ReduceSpec {
  readonly team: Team;
  readonly path: FoldPath;
  /** FP32 or BF16; otherwise as `AccumulateSpec.accumulator`. */
  readonly data: View;
  /** Default 1. */
  readonly scale?: number;
  /** As in `AccumulateSpec`. Allowed only if the team has one shard. Default false. */
  readonly sharded?: boolean;
  /** The largest range that `enqueue` may cover. Default: all of `data`, every member a replica. */
  readonly geometry?: Geometry;
}

const FIELDS: readonly (keyof ReduceSpec)[] = ['team', 'path', 'data', 'scale', 'sharded', 'geometry'];

/** See `Device.prepareReduce`. */
export function prepareReduce(device: Preparer, spec: ReduceSpec): PreparedOperation<RunOfElements> {
  const given = checkFields('the spec of a reduction', spec, FIELDS);
  const team = checkTeam(given.team);
  const { path, data, scale = 1, sharded = false } = given;
  checkNumber('scale', scale);
  checkFlag('sharded', sharded);
  checkView('data', data, GRADIENT_TYPES);
  const geometry = checkGeometry(given.geometry ?? wholeOf(team, data));
  const handle = native(() =>
    device.handle.prepareReduce({
      team: rawTeam(team),
      path,
      dtype: data.dtype,
      sharded,
      scale,
      geometry,
      data: rawSpan(data),
    }),
  );
  return new PreparedOperation(handle, device.stream, resourcesOf(team, [data]));
}
