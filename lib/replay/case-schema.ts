import * as v from 'valibot';
import { FAMILY_NAMES, type Family } from '../parameters/parameter.js';

// A replay of more than this never ends on one host, or its case is damaged.
const MOST_RANKS = 65_536;
const MOST_TURNS = 100_000;

const countUpTo = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(most));
const ranks = countUpTo(MOST_RANKS);
const turns = countUpTo(MOST_TURNS);
const size = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const text = v.pipe(v.string(), v.maxLength(4096));
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
  name: v.pipe(text, v.nonEmpty()),
  shape: v.pipe(v.array(size), v.maxLength(64)),
  family: v.picklist(FAMILY_NAMES as readonly [Family, ...Family[]]),
  partition: v.pipe(v.array(v.strictObject({ axis: text, dim: size })), v.maxLength(64)),
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
    world: ranks,
    pp: ranks,
    tp: ranks,
    ep: ranks,
    etp: ranks,
    native: v.optional(v.strictObject({ ep: ranks, etp: ranks })),
  }),
  training: v.strictObject({
    zeroStage: v.picklist([0, 1, 2]),
    accumulate: v.picklist(['fp32', 'bf16']),
    microbatches: turns,
    steps: turns,
    maxNorm: v.nullable(v.pipe(v.number(), v.finite(), v.gtValue(0))),
  }),
  optimizer: v.variant('type', [sgd, adamw]),
  parameters: v.pipe(v.array(parameter), v.nonEmpty()),
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
