export { fromBFloat16, toBFloat16 } from './device/bfloat16.js';
export { Buffer } from './device/buffer.js';
export { type AllToAllBlocks, Communicator, type ReduceOp } from './device/communicator.js';
export { Device, type DeviceKind, type Temporaries } from './device/device.js';
export type { ArrayOf, DType } from './device/dtype.js';
export { type InitOptions, init } from './device/init.js';
export type { AccumulateSpec } from './device/operations/accumulate.js';
export type { GatherSpec } from './device/operations/gather.js';
export type {
  FinishNormSpec,
  NormKind,
  NormPartialsSpec,
  NormScalars,
  NormSegment,
  PowerScaleSpec,
} from './device/operations/norm.js';
export { PreparedOperation, type RunOfElements } from './device/operations/prepared.js';
export type { ReduceSpec } from './device/operations/reduce.js';
export type { FoldPath, Geometry, Team } from './device/operations/team.js';
export type {
  ClearedRun,
  UpdateSegment,
  UpdateSettings,
  UpdateSpec,
} from './device/operations/update.js';
export { PeerWindow } from './device/peer-window.js';
export { Stream } from './device/stream.js';
export { View } from './device/view.js';
export type { Launcher } from './device/world.js';
export { FoldstepError, type FoldstepErrorCode, type FoldstepErrorDetails } from './errors.js';
export type { CorrectionTime } from './gradients/correction-time.js';
export type { PathChoice } from './gradients/paths.js';
export { Grid, type GridName, Mesh, type MeshSizes, RankGroup } from './mesh/mesh.js';
export { FoldedOptimizer, type ShardView, type StepResult } from './optimizer/folded-optimizer.js';
export type { FoldedOptimizerOptions } from './optimizer/options.js';
export { FlatLayout } from './parameters/layout.js';
export {
  type Cut,
  type Family,
  type FamilyOptions,
  type LaneRule,
  Parameter,
  type ParameterSpec,
  type Reduction,
} from './parameters/parameter.js';
export type { ZeroStage } from './parameters/placement.js';
export { constantLR } from './schedules/constant.js';
export { type WarmupCosineOptions, warmupCosineLR } from './schedules/cosine.js';
export type { Schedule } from './schedules/schedule.js';
export { type WarmupOptions, type WarmupType, warmupLR } from './schedules/warmup.js';
export { type AdamOptions, adam, adamw } from './update/adam.js';
export type { StateName, UpdateRule } from './update/rule.js';
export { type SgdOptions, sgd } from './update/sgd.js';
