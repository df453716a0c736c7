export { GroupCollectives } from './collectives.js';
export { ExpertParallel, type ExpertParallelOptions } from './expert-parallel.js';
export type { Span } from './plan.js';
export type { Routing } from './routing.js';
