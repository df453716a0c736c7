import { checkFields, checkFlag, checkNumber, checkWhole } from '../../arguments.js';
import { native } from '../../native/errors.js';
import { checkView, numbersOf, rawSpan } from '../checks.js';
import type { View } from '../view.js';
import { PreparedOperation, type Preparer } from './prepared.js';

export type UpdateRuleName = 'sgd' | 'adam' | 'adamw';

/** A run of elements with one clip coefficient, as offsets in elements into each arena. */
export interface UpdateSegment {
  /** Offset into the masters and the moments. */
  readonly master: number;
  readonly accumulator: number;
  readonly weight: number;
  readonly length: number;
  readonly group: number;
}

/** A run of the accumulator that this rank only clears. */
export interface ClearedRun {
  readonly offset: number;
  readonly length: number;
}

/** A rule and what does not change from step to step. */
export interface UpdateSettings {
  readonly rule: UpdateRuleName;
  readonly weightDecay: number;
  /** Only for SGD. */
  readonly momentum: number;
  readonly nesterov: boolean;
  /** Only for Adam and AdamW, like the next two fields. */
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
}

/**
 * One optimizer step with the coefficients in `scalars`: unscale, clip, update, round the weights, clear the accumulators.
 * If `scalars` says skip, the update only clears the accumulators.
 */
export interface UpdateSpec {
  readonly settings: UpdateSettings;
  readonly segments: readonly UpdateSegment[];
  readonly clears: readonly ClearedRun[];
  /** Number of groups of the norm whose coefficients the update uses. */
  readonly groups: number;
  /** FP32, as are the accumulator and the moments. */
  readonly master: View;
  readonly accumulator: View;
  /** BF16. */
  readonly weight: View;
  /** Laid out as the masters. Not needed by SGD without momentum. */
  readonly moment1?: View;
  /** Adam and AdamW. */
  readonly moment2?: View;
  /** FP64, as a finished norm of `groups` writes it. */
  readonly scalars: View;
}

const FIELDS: readonly (keyof UpdateSpec)[] = [
  'settings',
  'segments',
  'clears',
  'groups',
  'master',
  'accumulator',
  'weight',
  'moment1',
  'moment2',
  'scalars',
];
const SETTING_NUMBERS = ['weightDecay', 'momentum', 'beta1', 'beta2', 'epsilon'] as const;
const SETTING_FIELDS: readonly (keyof UpdateSettings)[] = ['rule', 'nesterov', ...SETTING_NUMBERS];
const SEGMENT_FIELDS = ['master', 'accumulator', 'weight', 'length', 'group'] as const;
const RUN_FIELDS = ['offset', 'length'] as const;

/** See `Device.prepareUpdate`. */
export function prepareUpdate(
  device: Preparer,
  spec: UpdateSpec,
): PreparedOperation<[learningRate: number, step: number]> {
  const given = checkFields('the spec of an update', spec, FIELDS);
  const { groups, master, accumulator, weight, moment1, moment2, scalars } = given;
  const settings = checkFields('settings', given.settings, SETTING_FIELDS);
  checkFlag('settings.nesterov', settings.nesterov);
  for (const name of SETTING_NUMBERS) checkNumber(`settings.${name}`, settings[name]);
  const segments = numbersOf('segments', given.segments, SEGMENT_FIELDS);
  const clears = numbersOf('clears', given.clears, RUN_FIELDS);
  checkWhole('groups', groups, 1);
  checkView('master', master, ['float32']);
  checkView('accumulator', accumulator, ['float32']);
  checkView('weight', weight, ['bfloat16']);
  if (moment1 !== undefined) checkView('moment1', moment1, ['float32']);
  if (moment2 !== undefined) checkView('moment2', moment2, ['float32']);
  checkView('scalars', scalars, ['float64']);
  const handle = native(() =>
    device.handle.prepareUpdate({
      ...settings,
      segments,
      clears,
      groups,
      master: rawSpan(master),
      accumulator: rawSpan(accumulator),
      weight: rawSpan(weight),
      moment1: moment1 && rawSpan(moment1),
      moment2: moment2 && rawSpan(moment2),
      scalars: rawSpan(scalars),
    }),
  );
  const views = [master, accumulator, weight, moment1, moment2, scalars];
  const buffers = views.flatMap((view) => (view === undefined ? [] : [view.buffer]));
  return new PreparedOperation(handle, device.stream, buffers);
}
