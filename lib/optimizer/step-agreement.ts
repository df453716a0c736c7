import type { Communicator } from '../device/communicator.js';
import type { Device } from '../device/device.js';
import { Staged } from '../device/staged.js';
import type { Stream } from '../device/stream.js';
import { FoldstepError } from '../errors.js';
import type { Parameter } from '../parameters/parameter.js';
import { Balance, type Claim, isBalanced, WORDS } from './balance.js';
import type { Intake } from './intake.js';
import type { Loads } from './loads.js';
import { differenceOver, disagreementOver, type Intent } from './step-disagreement.js';

/**
 * Finds out, before anything is reduced or changed, ranks that are about to do different things: that accumulated another
 * number of micro-batches, take another learning rate, loaded other values into copies, or cannot go on. It costs one
 * all-reduce of a few numbers; texts are exchanged only where something differs.
 */
export class StepAgreement {
  readonly #device: Device;
  readonly #stage: Communicator;
  readonly #stream: Stream;
  /** The sums of the balances' words, then the number of ranks that object. */
  readonly #sums: Staged<'float64'>;
  /** Of the last intent and counts. */
  #last: { readonly text: string; readonly balance: Balance } | undefined;

  /** `stage`: the ranks of this rank's pipeline stage. */
  constructor(device: Device, stage: Communicator, stream: Stream) {
    this.#device = device;
    this.#stage = stage;
    this.#stream = stream;
    this.#sums = new Staged(device, device.allocate(8 * (WORDS + 1)).view('float64'));
  }

  /**
   * Undefined where all ranks may go on. Else why none may, for each to throw: its own objection or what says that another
   * rank has one, GRADIENT_MISSING for counts that differ, PARAMETERS_DIFFER, OPERATION_MISMATCH. Collective over the world.
   */
  async refusalOf(
    intent: Intent,
    parameters: readonly Parameter[],
    intake: Intake,
    loads: Loads,
  ): Promise<FoldstepError | undefined> {
    if (this.#device.size === 1) return intent.objection;
    const balance = new Balance();
    balance.merge(this.#usual(intent, intake.summary()));
    balance.merge(loads.balance);
    try {
      if (await this.#holds(balance, intent.objection !== undefined)) return undefined;
    } catch (error) {
      throw withCounts(error, intent, intake);
    }
    const disagreement = await disagreementOver(this.#device, intent);
    if (disagreement) return disagreement;
    const claims = parameters.map(({ name }) => ({
      name,
      accumulated: this.#stageClaim(`the count of ${name}`, String(intake.count(name))),
      loaded: loads.claim(name),
    }));
    return differenceOver(this.#device, this.#stage, claims);
  }

  dispose(): void {
    this.#sums.dispose();
    this.#sums.view.buffer.dispose();
  }

  async #holds(balance: Balance, objects: boolean): Promise<boolean> {
    this.#sums.array.set([...balance.words, Number(objects)]);
    this.#sums.upload(this.#stream);
    this.#device.world.enqueueAllReduce(this.#sums.view, 'sum', this.#stream);
    this.#sums.download(this.#stream);
    await this.#stream.synchronize();
    const sums = this.#sums.array;
    return isBalanced(sums.subarray(0, WORDS)) && sums[WORDS] === 0;
  }

  /** From one step to the next they are mostly the same, and digests cost as much as a third of the all-reduce. */
  #usual(intent: Intent, counts: string): Balance {
    const claims = [this.#intentClaim(intent), this.#stageClaim('the counts of all parameters', counts)];
    const text = claims.map(({ value }) => value).join('\n');
    if (text !== this.#last?.text) this.#last = { text, balance: new Balance().addAll(claims) };
    return this.#last.balance;
  }

  #intentClaim({ call, learningRate }: Intent): Claim {
    const { size, rank } = this.#device;
    return { about: 'the next call', members: size, index: rank, value: `${call} ${learningRate}` };
  }

  #stageClaim(about: string, value: string): Claim {
    const { size, rank, worldRanks } = this.#stage;
    return { about: `${about} of the stage of rank ${worldRanks[0]}`, members: size, index: rank, value };
  }
}

// Where accumulating is a collective, a rank that does it once more than the others waits for them there.
function withCounts(error: unknown, { call }: Intent, intake: Intake): unknown {
  if (!(error instanceof FoldstepError)) return error;
  const { code, message, rank, peer } = error;
  return new FoldstepError(
    code,
    `before a ${call}, to which all ranks must come with as many micro-batches, this one with ${intake.summary()}: ${message}`,
    { ...(rank === undefined ? {} : { rank }), ...(peer === undefined ? {} : { peer }), cause: error },
  );
}
