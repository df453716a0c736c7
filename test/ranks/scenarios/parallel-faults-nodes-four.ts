export { differentLengths } from './parallel-faults-four.js';
export { nodes } from './parallel-nodes-four.js';
