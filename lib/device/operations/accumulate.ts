import { checkFields, checkFlag, checkNumber } from '../../arguments.js';
import { native } from '../../native/errors.js';
import { checkView, rawSpan } from '../checks.js';
import type { DType } from '../dtype.js';
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
  wholeOf,
} from './team.js';

/** `accumulator += scale * sum over the team of gradient`, on this rank's shard, members added in their order. */
export interface AccumulateSpec {
  readonly team: Team;
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
  /** The largest range that `enqueue` may cover. Default: the whole gradient, every member a replica. */
  readonly geometry?: Geometry;
}

export const GRADIENT_TYPES: readonly DType[] = ['bfloat16', 'float32'];

const FIELDS: readonly (keyof AccumulateSpec)[] = [
  'team',
  'path',
  'gradient',
  'accumulator',
  'scale',
  'accumulation',
  'mirror',
  'sharded',
  'geometry',
];

/** See `Device.prepareAccumulate`. */
export function prepareAccumulate(device: Preparer, spec: AccumulateSpec): PreparedOperation<RunOfElements> {
  const given = checkFields('the spec of an accumulation', spec, FIELDS);
  const team = checkTeam(given.team);
  const { path, gradient, accumulator } = given;
  const { scale = 1, accumulation = 'fp32', mirror = false, sharded = false } = given;
  checkNumber('scale', scale);
  checkFlag('mirror', mirror);
  checkFlag('sharded', sharded);
  checkView('gradient', gradient, GRADIENT_TYPES);
  checkView('accumulator', accumulator, ['float32']);
  const geometry = checkGeometry(given.geometry ?? wholeOf(team, gradient));
  const handle = native(() =>
    device.handle.prepareAccumulate({
      team: rawTeam(team),
      path,
      dtype: gradient.dtype,
      accumulation,
      mirror,
      sharded,
      scale,
      geometry,
      gradient: rawSpan(gradient),
      accumulator: rawSpan(accumulator),
    }),
  );
  return new PreparedOperation(handle, device.stream, resourcesOf(team, [gradient, accumulator]));
}
