import { FoldstepError } from 'foldstep';
import type { SafetensorsFile } from 'foldstep/safetensors';
import type { StepMetrics } from './train/metrics.ts';

const FIRST_STEPS = 10;

/** What two trainings of the same steps may differ by, and be the same training. */
export interface Bounds {
  /** Of the losses of the first ten steps, in nats. */
  readonly firstLosses: number;
  /** Of those of any step. */
  readonly losses: number;
  /** Of the first step's norms, relative. */
  readonly firstNorm: number;
  /** Of the median parameter, relative to its largest element. */
  readonly medianParameter: number;
}

/** One training: its steps, and the masters after the last. */
export interface Outcome {
  readonly steps: readonly StepMetrics[];
  readonly masters: SafetensorsFile;
}

/** How far a number of one step is from the other training's, in the step where that is most. */
export interface StepDifference {
  readonly difference: number;
  readonly step: number;
}

export interface ParameterDifference {
  readonly name: string;
  /** The largest of an element, relative to the parameter's largest element. */
  readonly difference: number;
}

/** The first ones are of ten steps for losses, and of one for norms; norms differ relatively. */
export interface Comparison {
  readonly firstLosses: StepDifference;
  readonly losses: StepDifference;
  readonly firstNorm: StepDifference;
  readonly norms: StepDifference;
  /** The smallest first; without tensors of zeros alone. */
  readonly parameters: readonly ParameterDifference[];
}

/** Compares a training with a reference. Throws INVALID_LENGTH for another number of steps, UNKNOWN_PARAMETER. */
export function compareTrainings(training: Outcome, reference: Outcome): Comparison {
  const pairs = reference.steps.map((expected, i) => [training.steps[i], expected] as const);
  if (training.steps.length !== pairs.length) {
    throw new FoldstepError(
      'INVALID_LENGTH',
      `a training of ${training.steps.length} steps is not to be compared with one of ${pairs.length}`,
    );
  }
  const losses = pairs.map(([a, b]) => Math.abs(a!.loss - b.loss));
  const norms = pairs.map(([a, b]) => Math.abs(a!.gradNorm - b.gradNorm) / b.gradNorm);
  return {
    firstLosses: most(losses.slice(0, FIRST_STEPS)),
    losses: most(losses),
    firstNorm: most(norms.slice(0, 1)),
    norms: most(norms),
    parameters: [...reference.masters.tensors.keys()]
      .map((name) => ({
        name,
        ...relativeDifference(training.masters.float32(name), reference.masters.float32(name)),
      }))
      .filter(({ largest }) => largest !== 0)
      .map(({ name, difference }) => ({ name, difference }))
      .sort((a, b) => a.difference - b.difference),
  };
}

/** What is beyond a bound, in words; nothing where the two trainings are the same. */
export function beyond(comparison: Comparison, bounds: Bounds): string[] {
  const ofSteps = (['firstNorm', 'firstLosses', 'losses'] as const)
    .filter((what) => comparison[what].difference > bounds[what])
    .map((what) => `the ${what === 'firstNorm' ? 'norms' : 'losses'} of step ${comparison[what].step}`);
  const median = medianOf(comparison);
  const tooFar = median !== undefined && median.difference > bounds.medianParameter;
  return tooFar ? [...ofSteps, 'half of the parameters'] : ofSteps;
}

function medianOf({ parameters }: Comparison): ParameterDifference | undefined {
  return parameters[Math.floor(parameters.length / 2)];
}

/** As a table. */
export function comparisonText(comparison: Comparison, bounds: Bounds): string {
  const { firstLosses, losses, firstNorm, norms, parameters } = comparison;
  const [median, worst] = [medianOf(comparison), parameters.at(-1)];
  const rows = [
    ['largest difference', 'is', 'may be', 'where'],
    ['of the first norm, relative', text(firstNorm.difference), text(bounds.firstNorm), 'step 1'],
    stepRow(`of the first ${FIRST_STEPS} losses, nats a byte`, firstLosses, text(bounds.firstLosses)),
    stepRow('of any loss', losses, text(bounds.losses)),
    stepRow('of any norm, relative', norms, ''),
    [
      'of the median parameter, relative to its largest element',
      text(median?.difference),
      text(bounds.medianParameter),
      median?.name ?? '',
    ],
    ['of the worst parameter', text(worst?.difference), '', worst?.name ?? ''],
  ];
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function stepRow(what: string, { difference, step }: StepDifference, bound: string): string[] {
  return [what, text(difference), bound, `step ${step}`];
}

function most(differences: readonly number[]): StepDifference {
  const finite = differences.map(orInfinite);
  const difference = Math.max(...finite);
  return { difference, step: finite.indexOf(difference) + 1 };
}

function relativeDifference(values: Float32Array, expected: Float32Array) {
  const largest = expected.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  const difference = expected.reduce((max, value, i) => Math.max(max, Math.abs(value - values[i]!)), 0);
  return { difference: orInfinite(difference / largest), largest };
}

/** What is no number is as far from every number as can be. */
function orInfinite(difference: number): number {
  return Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
}

function text(value: number | undefined): string {
  return value === undefined ? '' : value.toExponential(1);
}
