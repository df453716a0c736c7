import { checkRows, newFloats } from './checks.js';
import type { GroupCollectives } from './collectives.js';
import { lengthOf, type Plan, type Span, shareOf } from './plan.js';
import { placeRows, sumRows, takeRows } from './rows.js';

/**
 * One routing decision and the ways of rows under it. Arrays are row-major and results are fresh. Of the `tokens`, which
 * every lane holds, this rank sends its `ownTokens` to their experts; what it computes are rows of whatever rank. Each
 * method is one collective: all ranks of the mesh's lanes and expert groups call the same in the same order, with or
 * without rows. Errors are those of `GroupCollectives`.
 */
export class Routing {
  readonly tokens: number;
  readonly topK: number;
  /** Of this lane. */
  readonly ownTokens: Span;
  /** Rows that each of this rank's experts gets, in expert order. */
  readonly rowsPerExpert: readonly number[];
  /** Their sum. */
  readonly rows: number;
  readonly #lanes: GroupCollectives;
  readonly #members: GroupCollectives;
  readonly #plan: Plan;

  /** Made by `ExpertParallel.route`. */
  constructor(
    lanes: GroupCollectives,
    members: GroupCollectives,
    tokens: number,
    topK: number,
    ownTokens: Span,
    plan: Plan,
  ) {
    this.tokens = tokens;
    this.topK = topK;
    this.ownTokens = ownTokens;
    this.rowsPerExpert = plan.rowsPerExpert;
    this.rows = plan.computeOrder.length;
    this.#lanes = lanes;
    this.#members = members;
    this.#plan = plan;
  }

  /**
   * [tokens, width] to [rows, width]: this rank's own tokens to their experts. Rows come by local expert, then by source
   * rank, then by token.
   */
  async dispatch(tokens: Float32Array, width: number): Promise<Float32Array> {
    const source = checkRows('tokens', tokens, this.tokens, width);
    const { start } = this.ownTokens;
    return this.#toExperts(source, width, (assignment) => start + Math.floor(assignment / this.topK));
  }

  /**
   * The gradient of `dispatch`: [rows, width] to [tokens, width], zero outside `ownTokens`; a token's choices are added in
   * their order. Where the lanes are copies of one model, all that follows from `restoreBackward` is `tp` times this lane's
   * part: the gradient of tokens that every lane holds is then the mean of this over the lanes.
   */
  async dispatchBackward(rows: Float32Array, width: number): Promise<Float32Array> {
    const source = checkRows('rows', rows, this.rows, width);
    const gradients = newFloats(this.tokens * width);
    sumRows(await this.#toTokens(source, width), width, this.topK, gradients, this.ownTokens.start * width);
    return gradients;
  }

  /** [rows, width] to [own tokens * topK, width]: every row back to the lane of its token, by token, then by choice. */
  async collect(rows: Float32Array, width: number): Promise<Float32Array> {
    return this.#toTokens(checkRows('rows', rows, this.rows, width), width);
  }

  /** The gradient of `collect`: [own tokens * topK, width] to [rows, width]. */
  async collectBackward(gradients: Float32Array, width: number): Promise<Float32Array> {
    const source = checkRows('gradients', gradients, lengthOf(this.ownTokens) * this.topK, width);
    return this.#toExperts(source, width, (assignment) => assignment);
  }

  /** [own tokens, width] to [tokens, width], the same on every lane. */
  async restore(own: Float32Array, width: number): Promise<Float32Array> {
    checkRows('own', own, lengthOf(this.ownTokens), width);
    return this.#lanes.allGather(own, this.#laneCounts(width));
  }

  /** The gradient of `restore`: [tokens, width] to [own tokens, width], the sum over the lanes of what each has upstream. */
  async restoreBackward(gradients: Float32Array, width: number): Promise<Float32Array> {
    checkRows('gradients', gradients, this.tokens, width);
    return this.#lanes.reduceScatter(gradients, this.#laneCounts(width));
  }

  async #toExperts(
    source: Float32Array,
    width: number,
    rowOf: (assignment: number) => number,
  ): Promise<Float32Array> {
    const { sendOrder, sendRows, receiveRows, computeOrder } = this.#plan;
    const leaving = takeRows(source, width, sendOrder.length, (i) => rowOf(sendOrder[i]!));
    const arrived = await this.#members.allToAll(
      leaving,
      elements(sendRows, width),
      elements(receiveRows, width),
    );
    return takeRows(arrived, width, computeOrder.length, (i) => computeOrder[i]!);
  }

  async #toTokens(rows: Float32Array, width: number): Promise<Float32Array> {
    const { sendOrder, sendRows, receiveRows, computeOrder } = this.#plan;
    const leaving = placeRows(rows, width, computeOrder);
    const arrived = await this.#members.allToAll(
      leaving,
      elements(receiveRows, width),
      elements(sendRows, width),
    );
    return placeRows(arrived, width, sendOrder);
  }

  #laneCounts(width: number): number[] {
    const { size } = this.#lanes;
    return Array.from({ length: size }, (_, lane) => lengthOf(shareOf(this.tokens, lane, size)) * width);
  }
}

function elements(rows: readonly number[], width: number): number[] {
  return rows.map((count) => count * width);
}
