import { checkFields, checkInstance, checkObject, checkOneOf, reading } from '../arguments.js';
import { Device } from '../device/device.js';
import { Stream } from '../device/stream.js';
import { FoldstepError } from '../errors.js';
import type { CorrectionTime } from '../gradients/correction-time.js';
import { PATH_CHOICES, type PathChoice } from '../gradients/paths.js';
import { Mesh } from '../mesh/mesh.js';
import { kindOf } from '../norm/global-norm.js';
import { type ClipSettings, checkBounds } from '../norm/groups.js';
import type { ParameterSpec } from '../parameters/parameter.js';
import type { ZeroStage } from '../parameters/placement.js';
import { checkRule, type UpdateRule } from '../update/rule.js';

/** How to make a `FoldedOptimizer`. Everything but `device` and `stream` must be the same on every rank of a pipeline stage. */
export interface FoldedOptimizerOptions {
  readonly device: Device;
  /** Its world is the device's. */
  readonly mesh: Mesh;
  /** Of this rank's pipeline stage, in an order that all its ranks share. */
  readonly parameters: readonly ParameterSpec[];
  /** `sgd`, `adam` or `adamw`. */
  readonly update: UpdateRule;
  /** Default 1. */
  readonly zeroStage?: ZeroStage;
  /** Default `auto`. */
  readonly path?: PathChoice;
  /** Default `microbatch`. */
  readonly correct?: CorrectionTime;
  /** `bf16` rounds each corrected gradient and each sum to BF16, as frameworks that accumulate in BF16 do. Default `fp32`. */
  readonly accumulate?: 'fp32' | 'bf16';
  /** What the caller's gradients are. Default `bfloat16`. */
  readonly gradientType?: 'bfloat16' | 'float32';
  /** Write the corrected gradient back over the caller's. Needs `correct: 'microbatch'`. Default false. */
  readonly mirror?: boolean;
  /** The p of the norm: a number from 1 to 1000, or Infinity. Default 2. */
  readonly norm?: number;
  /** Default null: not clipped. */
  readonly maxNorm?: number | null;
  /** Norm groups that are clipped by their own norm instead of with the whole. */
  readonly groupMaxNorms?: Readonly<Record<string, number>>;
  /** Whether each tensor lane sees its own part of the sequence; decides the rule of `sequence-norm`. Default false. */
  readonly sequenceParallel?: boolean;
  /** Default: the device's. */
  readonly stream?: Stream;
}

/** The options that are plain values, with their defaults filled in. */
export interface Settings extends ClipSettings {
  readonly zeroStage: ZeroStage;
  readonly path: PathChoice;
  readonly correct: CorrectionTime;
  readonly accumulate: 'fp32' | 'bf16';
  readonly gradientType: 'bfloat16' | 'float32';
  readonly mirror: boolean;
  readonly norm: number;
  readonly sequenceParallel: boolean;
}

const FIELDS: readonly (keyof FoldedOptimizerOptions)[] = [
  'device',
  'mesh',
  'parameters',
  'update',
  'zeroStage',
  'path',
  'correct',
  'accumulate',
  'gradientType',
  'mirror',
  'norm',
  'maxNorm',
  'groupMaxNorms',
  'sequenceParallel',
  'stream',
];

/** The options, each read once. Throws INVALID_ARGUMENT for one that is none. */
export function checkOptions(options: FoldedOptimizerOptions): FoldedOptimizerOptions {
  return checkFields('the options of FoldedOptimizer', options, FIELDS);
}

/** Throws INVALID_ARGUMENT, naming the option and what it may be. */
export function settingsOf(options: FoldedOptimizerOptions): Settings {
  checkInstance('device', options.device, Device);
  checkInstance('mesh', options.mesh, Mesh);
  if (options.stream !== undefined) checkInstance('stream', options.stream, Stream);
  checkRule(options.update);
  const {
    zeroStage = 1,
    path = 'auto',
    correct = 'microbatch',
    accumulate = 'fp32',
    gradientType = 'bfloat16',
    mirror = false,
    norm = 2,
    maxNorm = null,
    groupMaxNorms = {},
    sequenceParallel = false,
  } = options;
  checkOneOf('zeroStage', zeroStage, [0, 1, 2]);
  checkOneOf('path', path, PATH_CHOICES);
  checkOneOf('correct', correct, ['microbatch', 'step']);
  checkOneOf('accumulate', accumulate, ['fp32', 'bf16']);
  checkOneOf('gradientType', gradientType, ['bfloat16', 'float32']);
  checkOneOf('mirror', mirror, [true, false]);
  checkOneOf('sequenceParallel', sequenceParallel, [true, false]);
  kindOf(norm);
  if (mirror && correct === 'step') {
    throw new FoldstepError(
      'INVALID_ARGUMENT',
      "mirror needs correct: 'microbatch': with correct: 'step' no micro-batch's corrected gradient is ever formed",
    );
  }
  const bounds = { maxNorm, groupMaxNorms: boundsOf(groupMaxNorms) };
  checkBounds(bounds);
  return {
    zeroStage,
    path,
    correct,
    accumulate,
    gradientType,
    mirror,
    norm,
    ...bounds,
    sequenceParallel,
  };
}

/** In an order that does not depend on how the object was written. */
function boundsOf(groupMaxNorms: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  checkObject('groupMaxNorms', groupMaxNorms);
  const bounds = reading('groupMaxNorms', () => Object.entries(groupMaxNorms));
  return new Map(bounds.sort(([a], [b]) => (a < b ? -1 : 1)));
}
