import { checkFields, checkInstance, checkWhole } from '../arguments.js';
import { requireAgreement } from '../device/agreement.js';
import { Device } from '../device/device.js';
import { Stream } from '../device/stream.js';
import { FoldstepError } from '../errors.js';
import { Mesh } from '../mesh/mesh.js';
import { checkChoices, RoutingRecord } from './choices.js';
import { GroupCollectives } from './collectives.js';
import { requireSameChoices } from './lane-agreement.js';
import { countChoices, planOf, type Span, shareOf } from './plan.js';
import { Routing } from './routing.js';

export interface ExpertParallelOptions {
  readonly device: Device;
  /** With `etp` 1. */
  readonly mesh: Mesh;
  /** In all: expert e belongs to member `floor(e * ep / experts)` of every expert group. */
  readonly experts: number;
  /** Default: the device's. */
  readonly stream?: Stream;
}

const FIELDS: readonly (keyof ExpertParallelOptions)[] = ['device', 'mesh', 'experts', 'stream'];
// Every rank of a block holds the counts of all of them.
const MOST_EXPERTS = 2 ** 20;

/**
 * Experts shared out over the ranks of `ep`, folded over the same ranks as the tensor lanes: which rank owns which, and how
 * tokens get there. All ranks call the same in the same order.
 */
export class ExpertParallel implements Disposable {
  /** The tensor lanes of this rank: axis `tp` of the dense grid. */
  readonly lanes: GroupCollectives;
  readonly experts: number;
  /** Of all experts, those that this rank computes. */
  readonly localExperts: Span;
  readonly #members: GroupCollectives;
  readonly #block: GroupCollectives;

  private constructor(
    experts: number,
    lanes: GroupCollectives,
    members: GroupCollectives,
    block: GroupCollectives,
  ) {
    for (const group of [lanes, members, block]) checkInstance('group', group, GroupCollectives);
    this.experts = experts;
    this.lanes = lanes;
    this.localExperts = shareOf(experts, members.rank, members.size);
    this.#members = members;
    this.#block = block;
  }

  /**
   * Collective over the world. Throws INVALID_MESH for `etp` above 1 and for experts that `ep` does not divide,
   * WORLD_MISMATCH, INVALID_ARGUMENT, PARAMETERS_DIFFER, SHARED_MEMORY_TOO_SMALL.
   */
  static async create(options: ExpertParallelOptions): Promise<ExpertParallel> {
    const { device, mesh, experts, stream } = checkFields('the options of ExpertParallel', options, FIELDS);
    checkInstance('device', device, Device);
    checkInstance('mesh', mesh, Mesh);
    checkWhole('experts', experts, 1);
    if (experts > MOST_EXPERTS) {
      throw new FoldstepError(
        'INVALID_ARGUMENT',
        `experts must be at most ${MOST_EXPERTS}; it is ${experts}`,
      );
    }
    if (stream !== undefined) checkInstance('stream', stream, Stream);
    mesh.checkWorld(device.size, device.rank);
    const agreed = `mesh: ${mesh.describe()}\nexperts: ${experts}`;
    await requireAgreement(device, device.world, 'the options of ExpertParallel', agreed);
    checkFit(mesh, experts);
    const lanes = await GroupCollectives.create(device, mesh, 'dense', ['tp'], stream);
    const members = await GroupCollectives.create(device, mesh, 'expert', ['ep'], stream);
    const block = await GroupCollectives.ofRanksFrom(device, blockStart(mesh, device.rank), stream);
    return new ExpertParallel(experts, lanes, members, block);
  }

  /**
   * `choices`: [tokens, topK] experts, the same on every lane. Rejects with INVALID_ARGUMENT or INVALID_LENGTH for what is
   * none; where lanes differ with ROUTING_DIFFERS, on all of them and on the ranks that share experts with them.
   */
  async route(given: Int32Array, topK: number): Promise<Routing> {
    const self = this.#block.worldRanks[this.#block.rank]!;
    const choices = checkChoices(given, topK, this.experts, self);
    const tokens = choices.length / topK;
    const ownTokens = shareOf(tokens, this.lanes.rank, this.lanes.size);
    const own = choices.subarray(ownTokens.start * topK, ownTokens.end * topK);
    const records = await this.#exchange(RoutingRecord.of(choices, topK, countChoices(own, this.experts)));
    await requireSameChoices(this.lanes, this.#block.worldRanks, records, choices);
    const counts = this.#members.worldRanks.map((rank) => records.get(rank)!.counts);
    const plan = planOf(own, counts, this.#members.rank);
    return new Routing(this.lanes, this.#members, tokens, topK, ownTokens, plan);
  }

  /** Frees the device's memory. Idempotent. */
  dispose(): void {
    this.#block.dispose();
    this.#members.dispose();
    this.lanes.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** The records of all ranks of the block, by world rank. */
  async #exchange(record: RoutingRecord): Promise<Map<number, RoutingRecord>> {
    const length = RoutingRecord.length(this.experts);
    const lengths = this.#block.worldRanks.map(() => length);
    const gathered = new Int32Array(
      (await this.#block.allGather(new Float32Array(record.words.buffer), lengths)).buffer,
    );
    const records = this.#block.worldRanks.map((rank, i) => {
      const words = gathered.subarray(i * length, (i + 1) * length);
      return [rank, new RoutingRecord(words)] as const;
    });
    return new Map(records);
  }
}

function checkFit(mesh: Mesh, experts: number): void {
  if (mesh.etp !== 1) {
    throw new FoldstepError(
      'INVALID_MESH',
      `etp = ${mesh.etp} cuts every expert over ranks, which ExpertParallel does not do; make the mesh with etp 1, and ep up to ${mesh.stage} to share the experts out further`,
    );
  }
  if (experts % mesh.ep !== 0) {
    throw new FoldstepError(
      'INVALID_MESH',
      `ep = ${mesh.ep} does not divide ${experts} experts; every member of an expert group owns as many as the others`,
    );
  }
}

/**
 * First rank of the smallest block that holds whole groups of lanes and whole expert groups. Both are runs of neighbours,
 * their axes having stride 1. What its ranks find out together none of those that wait for each other can miss.
 */
function blockStart(mesh: Mesh, rank: number): number {
  const stage = mesh.stageStart(rank);
  const block = leastCommonMultiple(mesh.tp, mesh.ep);
  return rank - ((rank - stage) % block);
}

function leastCommonMultiple(a: number, b: number): number {
  let multiple = a;
  while (multiple % b !== 0) multiple += a;
  return multiple;
}
