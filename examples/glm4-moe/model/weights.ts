import { FoldstepError, type Parameter } from 'foldstep';
import type { JaxArray } from '../autodiff/jax.ts';
import { toJax } from '../autodiff/segment.ts';

/** This rank's part of every weight, where the segments take it from. */
export class Weights {
  readonly #parameters: ReadonlyMap<string, Parameter>;
  /** One array for a parameter, and one for each local expert of an expert parameter. */
  readonly #arrays = new Map<string, JaxArray[]>();
  #disposed = false;

  constructor(parameters: readonly Parameter[]) {
    this.#parameters = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  }

  /** Throws UNKNOWN_PARAMETER, INVALID_LENGTH, INVALID_DTYPE, DISPOSED. */
  set(name: string, values: Float32Array): void {
    this.#check();
    const parameter = this.#parameters.get(name);
    if (!parameter)
      throw new FoldstepError('UNKNOWN_PARAMETER', `the model has no parameter ${name}`, { parameter: name });
    const { localShape, localSize, family } = parameter;
    if (values.length !== localSize) {
      throw new FoldstepError(
        'INVALID_LENGTH',
        `parameter ${name} is [${localShape.join(', ')}] on this rank, ${localSize} elements; ${values.length} were given`,
        { parameter: name },
      );
    }
    if (!(values instanceof Float32Array)) {
      throw new FoldstepError(
        'INVALID_DTYPE',
        `parameter ${name} is given as FP32; make it of BF16 bits with fromBFloat16`,
        { parameter: name },
      );
    }
    for (const old of this.#arrays.get(name) ?? []) old.dispose();
    const [parts, shape] = family === 'expert' ? [localShape[0]!, localShape.slice(1)] : [1, localShape];
    const size = localSize / parts;
    this.#arrays.set(
      name,
      Array.from({ length: parts }, (_, i) => toJax({ shape, data: values.slice(i * size, (i + 1) * size) })),
    );
  }

  /** Of a parameter that is no expert's. */
  get(name: string): JaxArray {
    return this.expert(name, 0);
  }

  /** Of a local expert. Throws INVALID_ARGUMENT before the weight has been set, DISPOSED. */
  expert(name: string, index: number): JaxArray {
    this.#check();
    const array = this.#arrays.get(name)?.[index];
    if (array) return array;
    throw new FoldstepError('INVALID_ARGUMENT', `parameter ${name} has no weight yet; call setWeight first`, {
      parameter: name,
    });
  }

  /** The weight on the host. */
  read(name: string): Float32Array {
    return this.get(name).ref.dataSync() as Float32Array;
  }

  dispose(): void {
    for (const arrays of this.#arrays.values()) for (const array of arrays) array.dispose();
    this.#arrays.clear();
    this.#disposed = true;
  }

  #check(): void {
    if (this.#disposed) throw new FoldstepError('DISPOSED', 'this model is disposed; create another');
  }
}
