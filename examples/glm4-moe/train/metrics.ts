import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { FoldstepError } from 'foldstep';
import * as v from 'valibot';

const finite = v.pipe(v.number(), v.finite());
/** What JSON has no number for is null in a file, and NaN to a reader. */
const orNaN = v.pipe(
  v.nullable(finite),
  v.transform((value) => value ?? Number.NaN),
);

const schema = v.object({
  /** From 1; skipped steps count. */
  step: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** Mean next-token cross-entropy in nats, over data ranks and micro-batches, before the step. */
  loss: orNaN,
  /** Of the whole gradient, before clipping. */
  gradNorm: orNaN,
  /** 0 where the step was skipped. */
  clipCoefficient: finite,
  learningRate: finite,
  /** A gradient was not finite: the weights are those of the step before. */
  skipped: v.boolean(),
  /** Of all data ranks together. */
  tokensPerSecond: finite,
  /** The whole step took, as this rank saw it. */
  seconds: finite,
  /** The most that foldstep's operations held on this rank besides their arguments. */
  temporaryPeakBytes: finite,
  /** Of this rank's process after the step. */
  residentBytes: finite,
});

/** What one step did. `loss`, `gradNorm`, `clipCoefficient`, `learningRate` and `skipped` are the same on every rank. */
export type StepMetrics = v.InferOutput<typeof schema>;

/** Writes steps as lines of JSON, each at once: what a run that is stopped has done is in the file. */
export class MetricsWriter implements Disposable {
  readonly #descriptor: number;
  readonly #file: string;

  /** A file that is there is overwritten: a file has the steps of one run. Throws INVALID_ARGUMENT. */
  constructor(file: string) {
    this.#file = file;
    this.#descriptor = accessing(`the metrics ${file} cannot be written`, () => openSync(file, 'w'));
  }

  /** Throws INVALID_ARGUMENT where the file takes no more. */
  write(metrics: StepMetrics): void {
    accessing(`the metrics ${this.#file} cannot be written`, () =>
      writeSync(this.#descriptor, `${JSON.stringify(metrics)}\n`),
    );
  }

  dispose(): void {
    closeSync(this.#descriptor);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** The steps that `MetricsWriter` wrote. Throws INVALID_ARGUMENT for a file or a line that is none, naming the line. */
export function readMetrics(file: string): StepMetrics[] {
  const text = accessing(`the metrics ${file} cannot be read`, () => readFileSync(file, 'utf8'));
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, index) => parseLine(line, `${file}, line ${index + 1}`));
}

function parseLine(line: string, where: string): StepMetrics {
  const value = accessing(`${where} is not JSON`, () => JSON.parse(line) as unknown);
  const { success, output, issues } = v.safeParse(schema, value);
  if (success) return output;
  const [issue] = issues;
  const field = v.getDotPath(issue);
  const what = field === null ? '' : `${field}: `;
  throw new FoldstepError('INVALID_ARGUMENT', `${where} is not a step's metrics: ${what}${issue.message}`);
}

function accessing<T>(failure: string, access: () => T): T {
  try {
    return access();
  } catch (cause) {
    const why = (cause as Error).message;
    throw new FoldstepError('INVALID_ARGUMENT', `${failure}: ${why}`, { cause });
  }
}
