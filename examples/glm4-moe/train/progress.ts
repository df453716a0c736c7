import { SingleBar } from 'cli-progress';
import type { StepMetrics } from './metrics.ts';

/** Where progress is shown: `process.stdout`, or what takes its place. */
export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean };

/**
 * Whether a bar may move there. A rank may have a terminal of its own although the output goes to a file: TERM then tells
 * that it is a dumb one.
 */
function isTerminal(output: Output): boolean {
  return output.isTTY === true && !(output === process.stdout && process.env['TERM'] === 'dumb');
}

export interface ProgressOptions {
  /** All there are to be. */
  readonly steps: number;
  /** Only rank 0 shows anything. */
  readonly rank: number;
  /** Where the output is no terminal: a line every so many steps, and for the first, the last and those skipped. Default 10. */
  readonly every?: number;
  readonly output?: Output;
}

/** Shows how training goes: a bar on a terminal, plain lines elsewhere. */
export class Progress {
  readonly #steps: number;
  readonly #every: number;
  readonly #output: Output;
  readonly #silent: boolean;
  readonly #bar: SingleBar | undefined;

  /** Begins the bar: what is to stand above it is printed before. */
  constructor({ steps, rank, every = 10, output = process.stdout }: ProgressOptions) {
    this.#steps = steps;
    this.#every = every;
    this.#output = output;
    this.#silent = rank !== 0;
    if (this.#silent || !isTerminal(output)) return;
    const format = '{bar} {value}/{total}  {said}';
    // Short enough for 80 columns, and the terminal is left as it is: a rank that is ended could not set it right again.
    this.#bar = new SingleBar({ format, barsize: 16, stream: output, hideCursor: false, linewrap: true });
    this.#bar.start(steps, 0, { said: '' });
  }

  show(metrics: StepMetrics): void {
    if (this.#silent) return;
    const { step, skipped } = metrics;
    const said = stepText(metrics);
    if (this.#bar) {
      this.#bar.update(step, { said });
    } else if (step === 1 || step % this.#every === 0 || step === this.#steps || skipped) {
      const count = `${String(step).padStart(String(this.#steps).length)}/${this.#steps}`;
      this.#output.write(`step ${count}  ${said}\n`);
    }
  }

  /** Leaves the bar as it stands and goes to the next line. */
  stop(): void {
    this.#bar?.stop();
  }
}

/** Such as `loss 3.2146  norm 1.84  9120 tokens/s`. */
export function stepText({ loss, gradNorm, tokensPerSecond, skipped }: StepMetrics): string {
  const numbers = `loss ${loss.toFixed(4)}  norm ${gradNorm.toPrecision(3)}  ${Math.round(tokensPerSecond)} tokens/s`;
  return skipped ? `${numbers}  skipped: a gradient was not finite` : numbers;
}
