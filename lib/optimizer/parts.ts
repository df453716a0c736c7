import type { Communicator } from '../device/communicator.js';
import type { Device } from '../device/device.js';
import type { Stream } from '../device/stream.js';
import type { GradientReducer } from '../gradients/reducer.js';
import type { GlobalNorm } from '../norm/global-norm.js';
import type { Placement } from '../parameters/placement.js';
import type { UpdateRule } from '../update/rule.js';
import type { Updater } from '../update/updater.js';
import type { ArenaArrays } from './arena-arrays.js';
import type { Arenas } from './arenas.js';
import type { StepAgreement } from './step-agreement.js';
import type { WeightGather } from './weight-gather.js';

/** The parts an optimizer is made of. See `assemble`. */
export interface Parts {
  readonly device: Device;
  readonly stream: Stream;
  readonly rule: UpdateRule;
  /** Whether corrected gradients are written back over the caller's. */
  readonly mirror: boolean;
  /** The ranks of this rank's pipeline stage. */
  readonly stage: Communicator;
  readonly stepAgreement: StepAgreement;
  readonly placement: Placement;
  readonly arenas: Arenas;
  readonly reducer: GradientReducer;
  readonly norm: GlobalNorm;
  readonly updater: Updater;
  readonly weights: WeightGather;
  readonly gradientArrays: ArenaArrays;
  readonly weightArrays: ArenaArrays;
  /** The name of a parameter of any rank's stage. Collective over the world. */
  parameterName(rank: number, index: number): Promise<string>;
  dispose(): void;
}
