export { SafetensorsFile, type TensorInfo } from './file.js';
export { type Tensor, writeSafetensors } from './write.js';
