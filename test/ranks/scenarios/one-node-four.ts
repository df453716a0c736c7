export { sameBitsAsSharedMemory } from './nodes-four.js';
