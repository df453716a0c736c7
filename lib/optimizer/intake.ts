import { FoldstepError } from '../errors.js';
import type { Parameter } from '../parameters/parameter.js';

/**
 * Which gradients a caller can have written, and which have been accumulated since the last step. A forgotten one would be
 * a gradient of zeros, and train nothing in silence. Parameters without elements have nothing to write.
 */
export class Intake {
  readonly #parameters: readonly Parameter[];
  readonly #rank: number;
  readonly #unasked: Set<string>;
  readonly #accumulated = new Set<string>();

  constructor(parameters: readonly Parameter[], rank: number) {
    this.#parameters = parameters;
    this.#rank = rank;
    this.#unasked = new Set(parameters.filter(({ localSize }) => localSize > 0).map(({ name }) => name));
  }

  /** Its memory was given to the caller. */
  asked(name: string): void {
    this.#unasked.delete(name);
  }

  /** Throws GRADIENT_MISSING if one of `names` can never have been written. */
  requireAsked(names: readonly string[]): void {
    if (this.#unasked.size === 0) return;
    const missing = names.filter((name) => this.#unasked.has(name));
    this.#refuse(missing, (which, them) => [
      `the gradient of ${which} was never written`,
      `write gradient(name), or what gradientView(name) names, before accumulate(); where ${them} zeros, ask for the array and leave it`,
    ]);
  }

  accumulated(names: readonly string[]): void {
    for (const name of names) this.#accumulated.add(name);
  }

  /** Throws GRADIENT_MISSING if some parameters have been accumulated since the last step and others have not. */
  requireComplete(): void {
    if (this.#accumulated.size === 0 || this.#accumulated.size === this.#parameters.length) return;
    const missing = this.#parameters
      .filter(({ name, localSize }) => localSize > 0 && !this.#accumulated.has(name))
      .map(({ name }) => name);
    this.#refuse(missing, (which) => [
      `the gradient of ${which} was not accumulated since the last step, and others were`,
      'nothing has been done: accumulate it, and step again',
    ]);
  }

  /** The step is done. */
  clear(): void {
    this.#accumulated.clear();
  }

  #refuse(missing: readonly string[], text: (which: string, them: string) => [string, string]): void {
    const [first] = missing;
    if (first === undefined) return;
    const others = missing.length - 1;
    const which = `parameter ${first}${others === 0 ? '' : ` (and of ${others} other${others === 1 ? '' : 's'})`}`;
    const [fault, remedy] = text(which, others === 0 ? 'it is' : 'they are');
    throw new FoldstepError('GRADIENT_MISSING', `${fault}; ${remedy}`, {
      parameter: first,
      rank: this.#rank,
    });
  }
}
