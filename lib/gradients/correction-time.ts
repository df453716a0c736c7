import type { Reduction } from '../parameters/families.js';
import type { Bucket } from '../parameters/layout.js';
import type { ZeroStage } from '../parameters/placement.js';

/** When gradients are corrected over lanes and copies: at each micro-batch, or once on the accumulator at the step. */
export type CorrectionTime = 'microbatch' | 'step';

/** The reductions of a bucket, by the moment at which they are done. */
export interface TimedReductions {
  /** Between a micro-batch's gradients and the accumulator. */
  readonly accumulate: Reduction;
  /** On the accumulator, in place, at the step. */
  readonly step: Reduction;
}

const NOTHING: Reduction = { axes: [], scale: 1 };

/**
 * Both reductions of a bucket, each exactly once. ZeRO 2 has only its shard to accumulate in, so the data ranks are
 * reduced at every micro-batch; below it they are reduced at the step.
 */
export function reductionsOf(bucket: Bucket, zeroStage: ZeroStage, correct: CorrectionTime): TimedReductions {
  const { correction, dataReduction } = bucket;
  const early: Reduction[] = [];
  const late: Reduction[] = [];
  (correct === 'microbatch' ? early : late).push(correction);
  (zeroStage === 2 ? early : late).push(dataReduction);
  return { accumulate: early.reduce(compose, NOTHING), step: late.reduce(compose, NOTHING) };
}

/** One reduction that does the work of both: the operation is linear. */
function compose(first: Reduction, second: Reduction): Reduction {
  return { axes: [...first.axes, ...second.axes], scale: first.scale * second.scale };
}
