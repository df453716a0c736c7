import * as v from 'valibot';
import { FAMILY_NAMES, type Family } from '../parameters/parameter.js';

const count = v.pipe(v.number(), v.integer(), v.minValue(1));
const size = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const fraction = v.pipe(v.number(), v.minValue(0), v.ltValue(1));
const notNegative = v.pipe(v.number(), v.finite(), v.minValue(0));

// A setting that this version does not know would change what is meant, so those objects are closed; what only describes
// the recording may have any further fields.
const sgd = v.strictObject({
  type: v.literal('sgd'),
  lr: notNegative,
  momentum: fraction,
  weightDecay: notNegative,
});

const adamw = v.strictObject({
  type: v.literal('adamw'),
  lr: notNegative,
  betas: v.strictTuple([fraction, fraction]),
  eps: notNegative,
  weightDecay: notNegative,
});

const parameter = v.strictObject({
  name: v.pipe(v.string(), v.nonEmpty()),
  shape: v.array(size),
  family: v.picklist(FAMILY_NAMES as readonly [Family, ...Family[]]),
  partition: v.array(v.strictObject({ axis: v.string(), dim: size })),
});

const step = v.variant('skipped', [
  v.object({ skipped: v.literal(false), gradNorm: notNegative, clipCoefficient: notNegative }),
  v.object({ skipped: v.literal(true), gradNorm: v.null(), clipCoefficient: v.null() }),
]);

/** What case.json must be; see `ReplayCase` for what follows from it. */
export const caseSchema = v.object({
  format: v.optional(v.literal('foldstep-case')),
  version: v.optional(v.literal(1)),
  mesh: v.strictObject({
    world: count,
    pp: count,
    tp: count,
    ep: count,
    etp: count,
    native: v.optional(v.strictObject({ ep: count, etp: count })),
  }),
  training: v.strictObject({
    zeroStage: v.picklist([0, 1, 2]),
    accumulate: v.picklist(['fp32', 'bf16']),
    microbatches: count,
    steps: count,
    maxNorm: v.nullable(v.pipe(v.number(), v.finite(), v.gtValue(0))),
  }),
  optimizer: v.variant('type', [sgd, adamw]),
  parameters: v.array(parameter),
  expected: v.object({
    steps: v.array(step),
    tolerance: v.object({
      gradNorm: notNegative,
      accumulated: notNegative,
      master: notNegative,
      state: notNegative,
    }),
  }),
});

/** The content of case.json. */
export type CaseContent = v.InferOutput<typeof caseSchema>;
