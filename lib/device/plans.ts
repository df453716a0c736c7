import { checkFields, checkFlag, checkList, checkWhole } from '../arguments.js';
import { FoldstepError } from '../errors.js';
import { native } from '../native/errors.js';
import { addon } from '../native/load.js';
import type { NORM_KINDS, RawHandle, RawNormPlan, RawUpdatePlan, RULES } from '../native/types.js';
import { show } from '../show.js';
import { Resource } from './resource.js';

/** p = 1, p = 2, any other p >= 1, or the maximum. */
export type NormKind = keyof typeof NORM_KINDS;
export type UpdateRuleName = keyof typeof RULES;

/** A run of elements of the accumulator arena that belong to one parameter. */
export interface NormSegment {
  readonly offset: number;
  readonly length: number;
  readonly group: number;
  readonly parameter: number;
  /** This rank is the owner; elements of others are only checked for being finite. */
  readonly counted: boolean;
}

/** A run of elements with one clip coefficient, as offsets in elements into each arena. */
export interface UpdateSegment {
  /** Also into the moments. */
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

export interface UpdateSettings {
  readonly rule: UpdateRuleName;
  readonly learningRate: number;
  readonly weightDecay: number;
  /** SGD. */
  readonly momentum: number;
  readonly nesterov: boolean;
  /** Adam and AdamW, as are the next two. */
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Counted from 1. */
  readonly step: number;
}

export interface FinishNormRequest {
  readonly kind: NormKind;
  readonly p: number;
  readonly groups: number;
  readonly ranks: number;
  /** Of the whole gradient; 0: not clipped. */
  readonly maxNorm: number;
  /** Each group's own; 0: clipped with the whole. Default: all so. */
  readonly groupMaxNorms?: readonly number[];
}

/** Places in the FP64 array that `Device.finishNorm` writes. */
export interface NormScalars {
  readonly norm: number;
  groupNorm(group: number): number;
  coefficient(group: number): number;
  /** 1 if the step is to be skipped, else 0. */
  readonly skip: number;
  /** 1 + the lowest rank with a non-finite element, or 0. */
  readonly rank: number;
  /** 1 + its first such parameter, or 0. */
  readonly parameter: number;
  readonly length: number;
  /** FP64 numbers that `Device.normPartials` writes. */
  readonly partialsLength: number;
}

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

const NORM_PLACES = ['offset', 'length', 'group', 'parameter'] as const;
const NORM_FIELDS = [...NORM_PLACES, 'counted'];
const UPDATE_PLACES = ['master', 'accumulator', 'weight', 'length', 'group'] as const;
const RUN_PLACES = ['offset', 'length'] as const;

function checkGroup(group: number, groups: number): number {
  if (Number.isInteger(group) && group >= 0 && group < groups) return group;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `group must be one of the norm's, from 0 to ${groups - 1}; it is ${show(group)}`,
  );
}

abstract class Plan<Handle extends RawHandle> extends Resource<Handle> {
  readonly groups: number;

  constructor(handle: Handle, groups: number) {
    super(handle);
    this.groups = groups;
  }
}

/** The segments of a norm, kept by the device from step to step. */
export class NormPlan extends Plan<RawNormPlan> {
  /** Elements the arena must have. */
  readonly arenaLength: number;

  /** Throws INVALID_ARGUMENT for a number that is no whole one. */
  constructor(segments: readonly NormSegment[], groups: number) {
    checkWhole('groups', groups, 1);
    const checked = checkList('segments', segments, (segment, i) => {
      const { counted, ...places } = checkFields(`segments[${i}]`, segment, NORM_FIELDS);
      checkFlag(`segments[${i}].counted`, counted);
      return { counted, ...checkPlaces(`segments[${i}]`, places, NORM_PLACES) };
    });
    const numbers = checked.flatMap(({ offset, length, group, parameter, counted }) => [
      offset,
      length,
      group,
      parameter,
      Number(counted),
    ]);
    super(
      native(() => addon().createNormPlan(Float64Array.from(numbers), groups)),
      groups,
    );
    this.arenaLength = endOf(checked.map(({ offset, length }) => [offset, length]));
  }
}

/** The segments of an optimizer step, kept by the device from step to step. */
export class UpdatePlan extends Plan<RawUpdatePlan> {
  /** Elements the arenas must have. */
  readonly masterLength: number;
  readonly accumulatorLength: number;
  readonly weightLength: number;

  /** `groups` are those of the norm. Throws INVALID_ARGUMENT as NormPlan does. */
  constructor(segments: readonly UpdateSegment[], clears: readonly ClearedRun[], groups: number) {
    checkWhole('groups', groups, 1);
    const updated = checkList('segments', segments, (segment, i) =>
      checkPlaces(`segments[${i}]`, segment, UPDATE_PLACES),
    );
    const emptied = checkList('clears', clears, (run, i) => checkPlaces(`clears[${i}]`, run, RUN_PLACES));
    const numbers = updated.flatMap(({ master, accumulator, weight, length, group }) => [
      master,
      accumulator,
      weight,
      length,
      group,
    ]);
    const cleared = emptied.flatMap(({ offset, length }) => [offset, length]);
    super(
      native(() => addon().createUpdatePlan(Float64Array.from(numbers), Float64Array.from(cleared), groups)),
      groups,
    );
    this.masterLength = endOf(updated.map(({ master, length }) => [master, length]));
    this.accumulatorLength = endOf([
      ...updated.map(({ accumulator, length }) => [accumulator, length] as const),
      ...emptied.map(({ offset, length }) => [offset, length] as const),
    ]);
    this.weightLength = endOf(updated.map(({ weight, length }) => [weight, length]));
  }
}

/** `value` with the named fields, each read once. Throws INVALID_ARGUMENT unless they are whole numbers from 0. */
function checkPlaces<Places extends object>(
  what: string,
  value: Places,
  names: readonly (keyof Places & string)[],
): Places {
  const places = checkFields(what, value, names);
  for (const name of names) checkWhole(`${what}.${name}`, places[name] as number, 0);
  return places;
}

function endOf(runs: readonly (readonly [offset: number, length: number])[]): number {
  return runs.reduce((end, [offset, length]) => Math.max(end, offset + length), 0);
}
