import type { Communicator } from '../device/communicator.js';
import type { Device } from '../device/device.js';
import { gatherTexts, reduceArrays } from '../device/small-arrays.js';
import { FoldstepError, type FoldstepErrorCode } from '../errors.js';
import { showName } from '../show.js';
import { Balance, type Claim, isBalanced, WORDS } from './balance.js';
import { describeLoads } from './loads.js';

/** What a rank is about to do, as all ranks must. */
export interface Intent {
  readonly call: 'step' | 'reduce';
  /** None where the call uses none. */
  readonly learningRate?: number;
  /** Why this rank cannot. */
  readonly objection?: FoldstepError | undefined;
}

/** What a rank claims of one parameter of its stage. */
export interface ParameterClaims {
  readonly name: string;
  readonly accumulated: Claim;
  readonly loaded: Claim;
}

/** An error in the making: the same on every rank. */
interface Finding {
  readonly code: FoldstepErrorCode;
  readonly message: string;
  readonly parameter?: string;
  /** The ranks that differ. */
  readonly ranks: readonly [number, number];
}

interface Said {
  readonly call: Intent['call'];
  readonly learningRate: string;
  readonly objection?: Pick<Finding, 'code' | 'message' | 'parameter'>;
}

const NOTHING_DONE = 'nothing has been done';

/**
 * What stands between ranks that cannot go on together, if it is that one of them objects or that they are about to do
 * different things. Collective over the world, of which every rank is given an error or none.
 */
export async function disagreementOver(device: Device, intent: Intent): Promise<FoldstepError | undefined> {
  const { call, learningRate, objection } = intent;
  const own: Said = {
    call,
    learningRate: String(learningRate),
    ...(objection && { objection: plain(objection) }),
  };
  const texts = await gatherTexts(device, device.world, JSON.stringify(own));
  if (objection) return objection;
  const said = texts.map((text) => JSON.parse(text) as Said);
  const finding = findObjection(said) ?? findOtherCall(said) ?? findOtherRate(said);
  return finding && errorOf(finding, device.rank);
}

function plain({ code, message, parameter }: FoldstepError): NonNullable<Said['objection']> {
  return { code, message, ...(parameter === undefined ? {} : { parameter }) };
}

function findObjection(said: readonly Said[]): Finding | undefined {
  const rank = said.findIndex(({ objection }) => objection !== undefined);
  if (rank < 0) return undefined;
  const { call, objection } = said[rank]!;
  return {
    ...objection!,
    message: `rank ${rank} cannot ${call}: ${objection!.message}`,
    ranks: [rank, rank],
  };
}

function findOtherCall(said: readonly Said[]): Finding | undefined {
  const other = said.findIndex(({ call }) => call !== said[0]!.call);
  if (other < 0) return undefined;
  return {
    code: 'OPERATION_MISMATCH',
    message: `rank 0 calls ${said[0]!.call}() and rank ${other} calls ${said[other]!.call}(); ${NOTHING_DONE}: let all ranks call the same methods in the same order`,
    ranks: [0, other],
  };
}

function findOtherRate(said: readonly Said[]): Finding | undefined {
  const other = said.findIndex(({ learningRate }) => learningRate !== said[0]!.learningRate);
  if (other < 0) return undefined;
  return {
    code: 'PARAMETERS_DIFFER',
    message: `the learning rates differ between ranks: rank 0 has ${said[0]!.learningRate}, rank ${other} has ${said[other]!.learningRate}; ${NOTHING_DONE}: give every rank the same`,
    ranks: [0, other],
  };
}

/**
 * What ranks accumulated or loaded otherwise than others, by the first such parameter. Collective over the world, in which
 * each pipeline stage looks for itself and tells the others.
 */
export async function differenceOver(
  device: Device,
  stage: Communicator,
  claims: readonly ParameterClaims[],
): Promise<FoldstepError> {
  const found = await findInStage(device, stage, claims);
  const texts = await gatherTexts(device, device.world, found === undefined ? '' : JSON.stringify(found));
  const text = texts.find((candidate) => candidate !== '');
  if (text !== undefined) return errorOf(JSON.parse(text) as Finding, device.rank);
  return new FoldstepError('INTERNAL', 'ranks differ, and no parameter is found in which they do', {
    rank: device.rank,
  });
}

async function findInStage(
  device: Device,
  stage: Communicator,
  claims: readonly ParameterClaims[],
): Promise<Finding | undefined> {
  const each = claims.flatMap(({ accumulated, loaded }) => [accumulated, loaded]);
  const words = Float64Array.from(each.flatMap((claim) => [...new Balance().addAll([claim]).words]));
  const sums = await reduceArrays(device, stage, words);
  const at = each.findIndex((_, i) => !isBalanced(sums.subarray(i * WORDS, (i + 1) * WORDS)));
  if (at < 0) return undefined;
  const { name } = claims[Math.floor(at / 2)]!;
  const { about, value } = each[at]!;
  const texts = await gatherTexts(device, stage, JSON.stringify([about, value]));
  const said = texts.map((text, i) => {
    const [group, claimed] = JSON.parse(text) as [string, string];
    return { group, value: claimed, rank: stage.worldRanks[i]! };
  });
  const other = said.find((one) => one.value !== firstOf(said, one.group).value)!;
  const first = firstOf(said, other.group);
  const ranks = [first.rank, other.rank] as const;
  const shown = showName(name);
  return at % 2 === 0
    ? {
        code: 'GRADIENT_MISSING',
        message: `rank ${first.rank} accumulated parameter ${shown} ${times(first.value)} since the last step, rank ${other.rank} ${times(other.value)}; ${NOTHING_DONE}: accumulate the micro-batches that are missing, and step again`,
        parameter: name,
        ranks,
      }
    : {
        code: 'PARAMETERS_DIFFER',
        message: `${describeLoads(shown, first, other)}; ${NOTHING_DONE}`,
        parameter: name,
        ranks,
      };
}

function firstOf<T extends { group: string }>(said: readonly T[], group: string): T {
  return said.find((one) => one.group === group)!;
}

function times(count: string): string {
  return count === '1' ? '1 time' : `${count} times`;
}

function errorOf({ code, message, parameter, ranks }: Finding, rank: number): FoldstepError {
  const [first, other] = ranks;
  return new FoldstepError(code, message, {
    rank,
    peer: rank === other && first !== other ? first : other,
    ...(parameter === undefined ? {} : { parameter }),
  });
}
