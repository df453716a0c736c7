import { show } from './show.js';

/** Stable identifiers of everything foldstep refuses or reports. Programs branch on these, never on the text. */
export type FoldstepErrorCode =
  | 'INVALID_ARGUMENT'
  | 'INVALID_DTYPE'
  | 'INVALID_SHAPE'
  | 'INVALID_LENGTH'
  | 'INVALID_MESH'
  | 'INVALID_PARTITION'
  | 'UNKNOWN_FAMILY'
  | 'UNKNOWN_AXIS'
  | 'UNKNOWN_PARAMETER'
  | 'DUPLICATE_NAME'
  | 'BUSY'
  | 'ALREADY_REDUCED'
  | 'NOT_REDUCED'
  | 'GRADIENT_MISSING'
  | 'DISPOSED'
  | 'WORLD_MISMATCH'
  | 'PARAMETERS_DIFFER'
  | 'ROUTING_DIFFERS'
  | 'OPERATION_MISMATCH'
  | 'DEADLINE_EXCEEDED'
  | 'PEER_EXITED'
  | 'ABORTED'
  | 'PATH_UNAVAILABLE'
  | 'SHARED_MEMORY_TOO_SMALL'
  | 'SHARED_MEMORY_UNAVAILABLE'
  | 'OUT_OF_MEMORY'
  | 'MPI_UNAVAILABLE'
  | 'MPI_FAILED'
  | 'DEVICE_UNAVAILABLE'
  | 'DEVICE_FAILED'
  | 'DEVICE_SHARED'
  | 'NCCL_FAILED'
  | 'ADDON_NOT_BUILT'
  | 'FILE_UNREADABLE'
  | 'FILE_UNWRITABLE'
  | 'CASE_UNREADABLE'
  | 'SAFETENSORS_INVALID'
  | 'LAUNCH_FAILED'
  | 'INTERNAL';

/** Where an error arose, as far as it is known. */
export interface FoldstepErrorDetails {
  /** World rank that reports the error. */
  readonly rank?: number;
  /** World rank the error is about, such as the one that did not come. */
  readonly peer?: number;
  readonly parameter?: string;
  readonly cause?: unknown;
}

/** The one error class foldstep throws: the message says what, where and how to mend it; `code` is stable. */
export class FoldstepError extends Error {
  override readonly name = 'FoldstepError';
  readonly code: FoldstepErrorCode;
  // Declared only: an error shows no details that it does not have.
  declare readonly rank?: number;
  declare readonly peer?: number;
  declare readonly parameter?: string;

  constructor(code: FoldstepErrorCode, message: string, details: FoldstepErrorDetails = {}) {
    const { cause, rank, peer, parameter } = readable(details);
    super(typeof message === 'string' ? message : show(message), cause === undefined ? undefined : { cause });
    this.code = code;
    if (rank !== undefined) this.rank = rank;
    if (peer !== undefined) this.peer = peer;
    if (parameter !== undefined) this.parameter = parameter;
  }
}

// An error is made even from details that throw when they are read.
function readable(details: FoldstepErrorDetails): FoldstepErrorDetails {
  try {
    return { ...details };
  } catch (cause) {
    return { cause };
  }
}
