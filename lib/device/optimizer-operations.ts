import { checkFlag, checkInstance, checkList, checkNumber, checkObject, checkWhole } from '../arguments.js';
import { NORM_KINDS, type RawBackend, type RawMemory, type RawStream, RULES } from '../native/types.js';
import { checkView, codeOf, spanOf } from './checks.js';
import {
  type FinishNormRequest,
  type NormKind,
  NormPlan,
  normScalars,
  UpdatePlan,
  type UpdateSettings,
} from './plans.js';
import type { View } from './view.js';

/** The arenas of an update. The moments are laid out as the masters. */
export interface UpdateArenas {
  /** FP32, as are the accumulator and the moments. */
  readonly master: View;
  readonly accumulator: View;
  /** BF16. */
  readonly weight: View;
  /** Not needed by SGD without momentum. */
  readonly moment1?: View;
  /** Adam and AdamW. */
  readonly moment2?: View;
}

/** See `Device.normPartials`. */
export interface NormPartialsRequest {
  readonly plan: NormPlan;
  readonly kind: NormKind;
  readonly p: number;
  readonly arena: View;
  readonly powerScale: View | null;
  readonly partials: View;
}

const SETTING_NUMBERS = [
  'learningRate',
  'weightDecay',
  'momentum',
  'beta1',
  'beta2',
  'epsilon',
  'step',
] as const;

// Each checks and enqueues. Throws INVALID_ARGUMENT, INVALID_DTYPE, INVALID_LENGTH, DISPOSED.

export function enqueueNormPartials(
  backend: RawBackend,
  stream: RawStream,
  { plan, kind, p, arena, powerScale, partials }: NormPartialsRequest,
): void {
  checkInstance('plan', plan, NormPlan);
  checkNumber('p', p);
  checkView('arena', arena, ['float32'], plan.arenaLength);
  checkView('partials', partials, ['float64'], normScalars(plan.groups).partialsLength);
  backend.normPartials(
    stream,
    plan.handle,
    codeOf('kind', NORM_KINDS, kind),
    p,
    ...spanOf(arena),
    ...scaleOf(kind, powerScale),
    ...spanOf(partials),
  );
}

export function enqueuePowerScale(
  backend: RawBackend,
  stream: RawStream,
  gathered: View,
  groups: number,
  ranks: number,
  scale: View,
): void {
  checkGathered(gathered, groups, ranks);
  checkView('scale', scale, ['float64'], 1);
  backend.powerScale(stream, ...spanOf(gathered), groups, ranks, ...spanOf(scale));
}

export function enqueueFinishNorm(
  backend: RawBackend,
  stream: RawStream,
  request: FinishNormRequest,
  gathered: View,
  powerScale: View | null,
  scalars: View,
): void {
  checkObject('request', request);
  const { kind, p, groups, ranks, maxNorm, groupMaxNorms = [] } = request;
  checkNumber('p', p);
  checkNumber('maxNorm', maxNorm);
  const bounds = checkList('groupMaxNorms', groupMaxNorms, (bound, group) => {
    checkNumber(`groupMaxNorms[${group}]`, bound);
    return bound;
  });
  checkGathered(gathered, groups, ranks);
  checkView('scalars', scalars, ['float64'], normScalars(groups).length);
  backend.finishNorm(
    stream,
    codeOf('kind', NORM_KINDS, kind),
    p,
    groups,
    ranks,
    maxNorm,
    Float64Array.from(bounds),
    ...spanOf(gathered),
    ...scaleOf(kind, powerScale),
    ...spanOf(scalars),
  );
}

export function enqueueUpdate(
  backend: RawBackend,
  stream: RawStream,
  plan: UpdatePlan,
  settings: UpdateSettings,
  arenas: UpdateArenas,
  scalars: View,
): void {
  checkInstance('plan', plan, UpdatePlan);
  checkObject('settings', settings);
  checkObject('arenas', arenas);
  const { master, accumulator, weight, moment1, moment2 } = arenas;
  checkNumbers('settings', settings, SETTING_NUMBERS);
  checkFlag('settings.nesterov', settings.nesterov);
  checkView('master', master, ['float32'], plan.masterLength);
  checkView('accumulator', accumulator, ['float32'], plan.accumulatorLength);
  checkView('weight', weight, ['bfloat16'], plan.weightLength);
  if (moment1 !== undefined) checkView('moment1', moment1, ['float32'], plan.masterLength);
  if (moment2 !== undefined) checkView('moment2', moment2, ['float32'], plan.masterLength);
  checkView('scalars', scalars, ['float64'], normScalars(plan.groups).length);
  backend.update(
    stream,
    plan.handle,
    codeOf('rule', RULES, settings.rule),
    settings.learningRate,
    settings.weightDecay,
    settings.momentum,
    settings.nesterov,
    settings.beta1,
    settings.beta2,
    settings.epsilon,
    settings.step,
    ...spanOf(master),
    ...spanOf(accumulator),
    ...spanOf(weight),
    ...spanOrNone(moment1),
    ...spanOrNone(moment2),
    ...spanOf(scalars),
  );
}

function checkNumbers<Values>(what: string, values: Values, names: readonly (keyof Values & string)[]): void {
  for (const name of names) checkNumber(`${what}.${name}`, values[name] as number);
}

function checkGathered(gathered: View, groups: number, ranks: number): void {
  checkWhole('ranks', ranks, 1);
  checkView('gathered', gathered, ['float64'], ranks * normScalars(groups).partialsLength);
}

function scaleOf(kind: NormKind, powerScale: View | null): [RawMemory | null, number] {
  if (kind !== 'power') return [null, 0];
  checkView('powerScale', powerScale!, ['float64'], 1);
  return spanOf(powerScale!);
}

function spanOrNone(view: View | undefined): [RawMemory | null, number] {
  return view ? spanOf(view) : [null, 0];
}
