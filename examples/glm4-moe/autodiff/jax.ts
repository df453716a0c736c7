import './float16.ts';
import { defaultDevice, init, type numpy } from '@jax-js/jax';

/** The automatic differentiation library, ready for use: WebAssembly kernels on this process's thread. */
export { jit, nn, numpy as np, vjp } from '@jax-js/jax';
export type JaxArray = numpy.Array;

await init('wasm');
defaultDevice('wasm');
