export { View } from './buffer.js';
