import { checkFields, checkList, checkNumber, checkWhole } from '../../arguments.js';
import { FoldstepError } from '../../errors.js';
import { native } from '../../native/errors.js';
import { addon } from '../../native/load.js';
import { show } from '../../show.js';
import { checkView, numbersOf, rawSpan } from '../checks.js';
import type { View } from '../view.js';
import { PreparedOperation, type Preparer } from './prepared.js';

/** p = 1, p = 2, any other p >= 1, or the maximum. */
export type NormKind = 'one' | 'two' | 'power' | 'infinity';

/** A run of elements of the accumulator arena that belong to one parameter. */
export interface NormSegment {
  readonly offset: number;
  readonly length: number;
  readonly group: number;
  readonly parameter: number;
  /** True if this rank counts the elements. If false, it only checks that they are finite. */
  readonly counted: boolean;
}

/** This rank's part of a norm of `arena`, into `partials`. */
export interface NormPartialsSpec {
  readonly segments: readonly NormSegment[];
  /** Number of norm groups. A segment's `group` is less than this. */
  readonly groups: number;
  readonly kind: NormKind;
  /** From 1 to 1000. Only the kind `power` uses it. */
  readonly p: number;
  /** FP32. */
  readonly arena: View;
  /** One FP64, written by the operation of `PowerScaleSpec`. Only for the kind `power`. */
  readonly powerScale?: View;
  /** FP64, `normScalars(groups).partialsLength` elements. */
  readonly partials: View;
}

/** The scale for the kind `power`, from the partials of the kind `infinity` of every rank, in rank order. */
export interface PowerScaleSpec {
  readonly groups: number;
  readonly ranks: number;
  /** FP64, the partials of every rank. */
  readonly gathered: View;
  /** One FP64. */
  readonly scale: View;
}

/** The norm and what follows from it, into `scalars`, from the partials of every rank, in rank order. */
export interface FinishNormSpec {
  readonly kind: NormKind;
  readonly p: number;
  readonly groups: number;
  readonly ranks: number;
  /** Largest norm of the whole gradient. 0 means no clipping. */
  readonly maxNorm: number;
  /** Largest norm of each group. 0, the default, means that the group is clipped with the whole gradient. */
  readonly groupMaxNorms?: readonly number[];
  /** FP64, the partials of every rank. */
  readonly gathered: View;
  /** One FP64. Only for the kind `power`. */
  readonly powerScale?: View;
  /** FP64, laid out as `NormScalars` says. */
  readonly scalars: View;
}

/** Places in the FP64 array that a finished norm writes. */
export interface NormScalars {
  readonly norm: number;
  groupNorm(group: number): number;
  coefficient(group: number): number;
  /** 1 if the step is to be skipped, else 0. */
  readonly skip: number;
  /** 1 + the lowest rank with a non-finite element, or 0. */
  readonly rank: number;
  /** 1 + the first parameter with a non-finite element on that rank, or 0. */
  readonly parameter: number;
  readonly length: number;
  /** FP64 numbers of one rank's partials. */
  readonly partialsLength: number;
}

const SEGMENT_FIELDS = ['offset', 'length', 'group', 'parameter'] as const;
const PARTIALS_FIELDS: readonly (keyof NormPartialsSpec)[] = [
  'segments',
  'groups',
  'kind',
  'p',
  'arena',
  'powerScale',
  'partials',
];
const SCALE_FIELDS: readonly (keyof PowerScaleSpec)[] = ['groups', 'ranks', 'gathered', 'scale'];
const FINISH_FIELDS: readonly (keyof FinishNormSpec)[] = [
  'kind',
  'p',
  'groups',
  'ranks',
  'maxNorm',
  'groupMaxNorms',
  'gathered',
  'powerScale',
  'scalars',
];

/** See NormScalars. Throws INVALID_ARGUMENT. */
export function normScalars(groups: number): NormScalars {
  checkWhole('groups', groups, 1);
  const { firstGroupNorm, firstCoefficient, ...places } = native(() => addon().normScalars(groups));
  return {
    ...places,
    groupNorm: (group) => firstGroupNorm + checkGroup(group, groups),
    coefficient: (group) => firstCoefficient + checkGroup(group, groups),
  };
}

/** See `Device.prepareNormPartials`. */
export function prepareNormPartials(device: Preparer, spec: NormPartialsSpec): PreparedOperation {
  const given = checkFields('the spec of norm partials', spec, PARTIALS_FIELDS);
  const { groups, kind, p, arena, powerScale, partials } = given;
  const segments = numbersOf('segments', given.segments, SEGMENT_FIELDS, ['counted']);
  checkWhole('groups', groups, 1);
  checkNumber('p', p);
  checkView('arena', arena, ['float32']);
  checkView('partials', partials, ['float64']);
  const scale = scaleOf(kind, powerScale);
  const handle = native(() =>
    device.handle.prepareNormPartials({
      segments,
      groups,
      kind,
      p,
      arena: rawSpan(arena),
      powerScale: scale && rawSpan(scale),
      partials: rawSpan(partials),
    }),
  );
  return new PreparedOperation(handle, device.stream, buffersOf(arena, partials, scale));
}

/** See `Device.preparePowerScale`. */
export function preparePowerScale(device: Preparer, spec: PowerScaleSpec): PreparedOperation {
  const { groups, ranks, gathered, scale } = checkFields('the spec of a power scale', spec, SCALE_FIELDS);
  checkWhole('groups', groups, 1);
  checkWhole('ranks', ranks, 1);
  checkView('gathered', gathered, ['float64']);
  checkView('scale', scale, ['float64']);
  const handle = native(() =>
    device.handle.preparePowerScale({ groups, ranks, gathered: rawSpan(gathered), scale: rawSpan(scale) }),
  );
  return new PreparedOperation(handle, device.stream, buffersOf(gathered, scale));
}

/** See `Device.prepareFinishNorm`. */
export function prepareFinishNorm(device: Preparer, spec: FinishNormSpec): PreparedOperation {
  const given = checkFields('the spec of a finished norm', spec, FINISH_FIELDS);
  const { kind, p, groups, ranks, maxNorm, groupMaxNorms = [], gathered, powerScale, scalars } = given;
  checkNumber('p', p);
  checkWhole('groups', groups, 1);
  checkWhole('ranks', ranks, 1);
  checkNumber('maxNorm', maxNorm);
  const bounds = checkList('groupMaxNorms', groupMaxNorms, (bound, group) => {
    checkNumber(`groupMaxNorms[${group}]`, bound);
    return bound;
  });
  checkView('gathered', gathered, ['float64']);
  checkView('scalars', scalars, ['float64']);
  const scale = scaleOf(kind, powerScale);
  const handle = native(() =>
    device.handle.prepareFinishNorm({
      kind,
      p,
      groups,
      ranks,
      maxNorm,
      groupMaxNorms: Float64Array.from(bounds),
      gathered: rawSpan(gathered),
      powerScale: scale && rawSpan(scale),
      scalars: rawSpan(scalars),
    }),
  );
  return new PreparedOperation(handle, device.stream, buffersOf(gathered, scalars, scale));
}

function scaleOf(kind: NormKind, powerScale: View | undefined): View | undefined {
  if (kind !== 'power') return undefined;
  checkView('powerScale', powerScale!, ['float64']);
  return powerScale;
}

function buffersOf(...views: (View | undefined)[]) {
  return views.flatMap((view) => (view === undefined ? [] : [view.buffer]));
}

function checkGroup(group: number, groups: number): number {
  if (Number.isInteger(group) && group >= 0 && group < groups) return group;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `group must be one of the norm's, from 0 to ${groups - 1}; it is ${show(group)}`,
  );
}
