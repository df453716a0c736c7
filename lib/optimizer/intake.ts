import { FoldstepError } from '../errors.js';
import type { Parameter } from '../parameters/parameter.js';
import { showName } from '../show.js';
import type { Selection } from './selection.js';

/**
 * Which gradients a caller can have written, and how often each has been accumulated since the last
 * step. A forgotten gradient would be all zeros. Its parameter would not be trained, and nobody would notice. Parameters
 * without elements have nothing to write.
 */
export class Intake {
  /** Those with elements. */
  readonly #parameters: readonly Parameter[];
  readonly #rank: number;
  readonly #unasked: Set<string>;
  /** Micro-batches of all parameters at once, since the last step. */
  #wholes = 0;
  /** Micro-batches of each parameter that came by name, besides those. */
  readonly #named: Map<string, number>;
  #anyNamed = false;

  constructor(parameters: readonly Parameter[], rank: number) {
    this.#parameters = parameters.filter(({ localSize }) => localSize > 0);
    this.#rank = rank;
    const names = this.#parameters.map(({ name }) => name);
    this.#unasked = new Set(names);
    this.#named = new Map(names.map((name) => [name, 0]));
  }

  /** The memory of a gradient was given to the caller. */
  asked(name: string): void {
    this.#unasked.delete(name);
  }

  /** Throws GRADIENT_MISSING if one of the selected can never have been written. */
  requireAsked({ names }: Selection): void {
    if (this.#unasked.size === 0) return;
    const missing = names.filter((name) => this.#unasked.has(name));
    this.#refuse(missing, (which, them) => [
      `the gradient of ${which} was never written`,
      `write gradient(name), or what gradientView(name) names, before accumulate(); where ${them} zeros, ask for the array and leave it`,
    ]);
  }

  /** Counts one micro-batch of the selected. */
  accumulated({ whole, names }: Selection): void {
    if (whole) {
      this.#wholes += 1;
      return;
    }
    for (const name of names) {
      const count = this.#named.get(name);
      if (count !== undefined) this.#named.set(name, count + 1);
    }
    this.#anyNamed = true;
  }

  /** Micro-batches since the last step; 0 of a parameter without elements. */
  count(name: string): number {
    const named = this.#named.get(name);
    return named === undefined ? 0 : this.#wholes + named;
  }

  /** The counts of all parameters, as text: one number where they are the same. */
  summary(): string {
    if (this.#parameters.length === 0) return '0';
    if (!this.#anyNamed) return String(this.#wholes);
    const counts = this.#parameters.map(({ name }) => this.count(name));
    return counts.every((count) => count === counts[0]) ? String(counts[0]) : counts.join(',');
  }

  /** Throws GRADIENT_MISSING unless every parameter has been accumulated since the last step. */
  requireComplete(): void {
    if (this.#wholes > 0) return;
    const missing = this.#parameters.map(({ name }) => name).filter((name) => this.count(name) === 0);
    const all = missing.length === this.#parameters.length;
    this.#refuse(missing, (which) => [
      `the gradient of ${which} was not accumulated since the last step${all ? '' : ', and others were'}`,
      'nothing has been done: accumulate it, and step again',
    ]);
  }

  /** The step is done. */
  clear(): void {
    this.#wholes = 0;
    if (!this.#anyNamed) return;
    for (const name of this.#named.keys()) this.#named.set(name, 0);
    this.#anyNamed = false;
  }

  #refuse(missing: readonly string[], text: (which: string, them: string) => [string, string]): void {
    const [first] = missing;
    if (first === undefined) return;
    const others = missing.length - 1;
    const which = `parameter ${showName(first)}${others === 0 ? '' : ` (and of ${others} other${others === 1 ? '' : 's'})`}`;
    const [fault, remedy] = text(which, others === 0 ? 'it is' : 'they are');
    throw new FoldstepError('GRADIENT_MISSING', `${fault}; ${remedy}`, {
      parameter: first,
      rank: this.#rank,
    });
  }
}
