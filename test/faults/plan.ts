import type { FoldPath } from '#lib/device/operations/team.js';
import type { CorrectionTime } from '#lib/gradients/correction-time.js';

/** Where in a training a fault strikes, in the order in which a training comes there. */
export const MOMENTS = [
  'before init',
  'before create',
  'in create',
  'before loading',
  'before a micro-batch',
  'in a micro-batch',
  'before a step',
  'in a step',
  'before a collective',
  'in a collective',
  'before saving',
  'in saving',
  'at the end',
] as const;
export type Moment = (typeof MOMENTS)[number];

/** Whether the moment comes again at every step. */
export function isOfStep(moment: Moment): boolean {
  const place = MOMENTS.indexOf(moment);
  return place >= MOMENTS.indexOf('before a micro-batch') && place < MOMENTS.indexOf('at the end');
}

/** Whether the moment comes again at every micro-batch. */
export function isOfMicrobatch(moment: Moment): boolean {
  return moment === 'before a micro-batch' || moment === 'in a micro-batch';
}

/** One run of the campaign: a training, and what goes wrong in it. */
export interface Plan {
  /** Place in the campaign, from 0. */
  readonly run: number;
  readonly fault: string;
  readonly moment: Moment;
  /** The step and the micro-batch of the moment, from 0. */
  readonly step: number;
  readonly microbatch: number;
  /** How long a call has been under way when the fault strikes in it. */
  readonly delayMs: number;
  /** The world rank that the fault strikes. */
  readonly culprit: number;
  readonly ranks: number;
  readonly tp: number;
  readonly ep: number;
  readonly zeroStage: 0 | 1 | 2;
  readonly path: FoldPath | 'auto';
  readonly correct: CorrectionTime;
}

/** A plan and where it is carried out: the argument of the rank program. */
export interface Assignment extends Plan {
  /** Of everything that waits for another rank. */
  readonly deadlineMs: number;
  /** The ranks leave word here for the campaign, and the campaign for them. */
  readonly words: string;
  /** The file that rank 0 saves. */
  readonly save: string;
}

export const STEPS = 3;
export const MICROBATCHES = 2;

/** One line for people. */
export function describe({ run, fault, moment, step, microbatch, ...plan }: Plan): string {
  const at = isOfMicrobatch(moment)
    ? ` ${microbatch} of step ${step}`
    : isOfStep(moment)
      ? ` of step ${step}`
      : '';
  const { culprit, ranks, tp, ep, zeroStage, path, correct } = plan;
  return (
    `run ${run}: rank ${culprit} of ${ranks}, ${fault}, ${moment}${at}; ` +
    `tp ${tp}, ep ${ep}, ZeRO ${zeroStage}, path ${path}, corrected by ${correct}`
  );
}
