import { FoldstepError } from '../errors.js';
import { show, showName } from '../show.js';
import type { Selection } from './selection.js';

/**
 * What an optimizer is doing, and so what it may be asked for next. Every refusal is thrown before
 * anything is done. Accumulations of different parameters may run beside one another; nothing runs
 * beside the rest.
 */
export class Activity {
  readonly #rank: number;
  /** The parameters that are being accumulated by name. */
  readonly #accumulating = new Set<string>();
  /** All parameters, while they are accumulated at once. */
  #accumulatingAll: Selection | undefined;
  /** What must be awaited before anything else, such as a step. */
  #underWay: string | undefined;
  #reduced = false;
  #failure: unknown;
  #disposed = false;

  /** `rank` is this rank's in the world. */
  constructor(rank: number) {
    this.#rank = rank;
  }

  /** Whether the accumulators hold the reduced gradient. */
  get reduced(): boolean {
    return this.#reduced;
  }

  set reduced(reduced: boolean) {
    this.#reduced = reduced;
  }

  /** Throws DISPOSED, and ABORTED after an operation has failed. */
  requireUsable(): void {
    this.requireNotDisposed();
    if (this.#failure === undefined) return;
    throw new FoldstepError(
      'ABORTED',
      `an earlier operation of this optimizer failed, and its state cannot be trusted: ${show(this.#failure)}`,
      { rank: this.#rank, cause: this.#failure },
    );
  }

  /** Throws DISPOSED. */
  requireNotDisposed(): void {
    if (!this.#disposed) return;
    throw new FoldstepError('DISPOSED', 'this optimizer is disposed; create another one', {
      rank: this.#rank,
    });
  }

  /** Throws BUSY while a step, a reduction or a consolidation is under way. */
  requireIdle(): void {
    if (this.#underWay !== undefined) throw this.#busy(`${this.#underWay} is under way`);
  }

  /** Throws BUSY while any parameter is being accumulated. */
  requireNoneAccumulating(): void {
    const [first] = this.#accumulatingAll?.names ?? this.#accumulating;
    if (first === undefined) return;
    throw this.#busy(`parameter ${showName(first)} is still being accumulated`);
  }

  /**
   * Throws BUSY if one of the selected is still being accumulated, or a step is under way;
   * ALREADY_REDUCED.
   */
  requireAccumulable({ names }: Selection): void {
    const again = this.#accumulatingAll
      ? names[0]
      : this.#accumulating.size > 0
        ? names.find((name) => this.#accumulating.has(name))
        : undefined;
    if (again !== undefined) {
      throw new FoldstepError(
        'BUSY',
        `parameter ${showName(again)} is still being accumulated; await the earlier accumulate() before the next`,
        { parameter: again, rank: this.#rank },
      );
    }
    this.requireIdle();
    if (this.#reduced) {
      throw new FoldstepError(
        'ALREADY_REDUCED',
        'the accumulators have been reduced; call step() before the next accumulate()',
      );
    }
  }

  beginAccumulating(selection: Selection): void {
    if (selection.whole) this.#accumulatingAll = selection;
    else for (const name of selection.names) this.#accumulating.add(name);
  }

  endAccumulating(selection: Selection): void {
    if (selection.whole) this.#accumulatingAll = undefined;
    else for (const name of selection.names) this.#accumulating.delete(name);
  }

  /**
   * Runs an operation beside which nothing else may run. `what` names it in messages, such as `a
   * step`.
   */
  async alone<Result>(what: string, operation: () => Promise<Result>): Promise<Result> {
    this.#underWay = what;
    try {
      return await operation();
    } finally {
      this.#underWay = undefined;
    }
  }

  /**
   * Runs an operation after whose failure ranks may have got to different places: nothing that
   * follows could be trusted.
   */
  async guard<Result>(operation: () => Promise<Result>): Promise<Result> {
    try {
      return await operation();
    } catch (error) {
      this.failed(error);
      throw error;
    }
  }

  /** Remembers the first failure of an operation. */
  failed(error: unknown): void {
    this.#failure ??= error;
  }

  /** Gives false where it was disposed of before. */
  dispose(): boolean {
    const first = !this.#disposed;
    this.#disposed = true;
    return first;
  }

  #busy(why: string): FoldstepError {
    return new FoldstepError('BUSY', `${why}; await it first`, { rank: this.#rank });
  }
}
