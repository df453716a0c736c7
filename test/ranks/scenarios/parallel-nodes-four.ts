export { foldedAndDirect, innerProducts, sums } from './parallel-four.js';

/** Two ranks on each of two nodes. */
export const nodes = ['left', 'left', 'right', 'right'];
