import { basename, join, resolve } from 'node:path';
import * as v from 'valibot';
import { FoldstepError } from '../errors.js';
import { parseJson } from '../files/json-values.js';
import { type RegularFile, withRegularFile } from '../files/regular-file.js';
import { Mesh } from '../mesh/mesh.js';
import { Parameter } from '../parameters/parameter.js';
import { SafetensorsFile } from '../safetensors/file.js';
import { elementsOf, shapeText } from '../safetensors/shape.js';
import { escapeUnsafe, showName } from '../show.js';
import { adamw } from '../update/adam.js';
import type { StateName, UpdateRule } from '../update/rule.js';
import { sgd } from '../update/sgd.js';
import { type CaseContent, caseSchema } from './case-schema.js';
import { schemaFault } from './schema-faults.js';

/** In bytes: room for some 50,000 parameters and steps. */
const LARGEST_CASE = 2 ** 24;
/** What is checked at a time of a tensor that may be larger than memory. */
const ELEMENTS_AT_ONCE = 2 ** 22;

/** A tensor's key and shape. */
type Wanted = readonly [key: string, shape: readonly number[]];

/**
 * A recorded stretch of training. Opening it reads and checks case.json; each tensor file is checked against it when
 * opened: every tensor that is needed is there, with its dtype and shape.
 *
 * Throws CASE_UNREADABLE, naming file and field, or SAFETENSORS_INVALID.
 */
export class ReplayCase {
  readonly folder: string;
  /** The folder's own name. */
  readonly name: string;
  readonly content: CaseContent;
  readonly mesh: Mesh;
  readonly parameters: readonly Parameter[];
  readonly update: UpdateRule;

  constructor(folder: string) {
    this.folder = resolve(folder);
    this.name = basename(this.folder);
    this.content = this.#parse();
    this.mesh = this.#making('mesh', () => new Mesh(this.#meshSizes()));
    this.parameters = this.content.parameters.map((spec, i) =>
      this.#making(`parameters[${i}]`, () => new Parameter(spec, this.mesh)),
    );
    this.update = this.#making('optimizer', () => updateOf(this.content.optimizer));
    this.#checkTogether();
  }

  /** The FP32 masters before the first step, logical tensors by parameter name. */
  openInitial(): SafetensorsFile {
    return this.#open(
      'initial.safetensors',
      'F32',
      this.parameters.map(({ name, shape }) => [name, shape] as const),
    );
  }

  /** One rank's BF16 gradients, its local tensors by `gradientKey`. */
  openRank(rank: number): SafetensorsFile {
    return this.#open(`rank-${rank}.safetensors`, 'BF16', this.#gradients());
  }

  /** What must come out: FP32, logical tensors by `accumulatedKey`, `masterKey` and `stateKey`. */
  openExpected(): SafetensorsFile {
    return this.#open('expected.safetensors', 'F32', this.#expectations());
  }

  /**
   * Opens every file once, so that nothing is started on a case that cannot be read to its end, and checks that what is
   * expected is finite: nothing can be compared with what is not.
   */
  verify(): void {
    this.openInitial();
    reading(() => this.#checkFinite(this.openExpected()));
    for (let rank = 0; rank < this.mesh.world; rank++) this.openRank(rank);
  }

  *#gradients(): Generator<Wanted> {
    const { steps, microbatches } = this.content.training;
    for (const { name, localShape } of this.parameters) {
      for (let step = 1; step <= steps; step++) {
        for (let micro = 1; micro <= microbatches; micro++)
          yield [gradientKey(step, micro, name), localShape];
      }
    }
  }

  *#expectations(): Generator<Wanted> {
    for (const { name, shape } of this.parameters) {
      for (const [i, { skipped }] of this.content.expected.steps.entries()) {
        if (!skipped) yield [accumulatedKey(i + 1, name), shape];
        yield [masterKey(i + 1, name), shape];
      }
      for (const state of this.update.states) yield [stateKey(state, name), shape];
    }
  }

  #parse(): CaseContent {
    const file = join(this.folder, 'case.json');
    const bytes = reading(() => withRegularFile(file, (open) => contentOf(open, file)));
    const json = parseJson(bytes, (fault) => unreadable(file, `it is not JSON that can be read: ${fault}`));
    // The first fault is enough: a file of millions of faults would make as many issues.
    const parsed = v.safeParse(caseSchema, json, { abortEarly: true });
    if (parsed.success) return parsed.output;
    throw unreadable(file, schemaFault('case.json', parsed.issues[0]));
  }

  #meshSizes() {
    const { native, ...sizes } = this.content.mesh;
    return native ? { ...sizes, native } : sizes;
  }

  #checkTogether(): void {
    const { expected, training, parameters } = this.content;
    if (expected.steps.length !== training.steps) {
      this.#refuse(
        `expected.steps has ${expected.steps.length} entries, training.steps is ${training.steps}`,
      );
    }
    const names = new Set<string>();
    for (const [i, { name }] of parameters.entries()) {
      if (names.has(name)) this.#refuse(`parameters[${i}].name: ${showName(name)} is there twice`);
      names.add(name);
    }
  }

  #checkFinite(expected: SafetensorsFile): void {
    for (const [key] of this.#expectations()) {
      const size = elementsOf(expected.tensors.get(key)!.shape);
      for (let begin = 0; begin < size; begin += ELEMENTS_AT_ONCE) {
        const values = expected.float32(key, begin, Math.min(begin + ELEMENTS_AT_ONCE, size));
        const at = values.findIndex((value) => !Number.isFinite(value));
        if (at < 0) continue;
        throw unreadable(
          expected.file,
          `tensor ${showName(key)} has ${values[at]} as element ${begin + at}, which must be finite`,
        );
      }
    }
  }

  #making<T>(field: string, make: () => T): T {
    try {
      return make();
    } catch (cause) {
      return this.#refuse(`${field}: ${escapeUnsafe((cause as Error).message)}`, cause);
    }
  }

  #refuse(fault: string, cause?: unknown): never {
    throw unreadable(join(this.folder, 'case.json'), fault, cause);
  }

  #open(name: string, dtype: string, wanted: Iterable<Wanted>): SafetensorsFile {
    const file = reading(() => new SafetensorsFile(join(this.folder, name)));
    for (const [key, shape] of wanted) {
      const tensor = file.tensors.get(key);
      if (!tensor) throw unreadable(file.file, `tensor ${showName(key)} is not there`);
      if (tensor.dtype === dtype && String(tensor.shape) === String(shape)) continue;
      throw unreadable(
        file.file,
        `tensor ${showName(key)} is ${describe(tensor.dtype, tensor.shape)}; case.json makes it ${describe(dtype, shape)}`,
      );
    }
    return file;
  }
}

export function gradientKey(step: number, micro: number, name: string): string {
  return `step-${step}/micro-${micro}/${name}`;
}

export function accumulatedKey(step: number, name: string): string {
  return `step-${step}/accumulated/${name}`;
}

export function masterKey(step: number, name: string): string {
  return `step-${step}/master/${name}`;
}

export function stateKey(state: StateName, name: string): string {
  return `final/${state}/${name}`;
}

function updateOf(optimizer: CaseContent['optimizer']): UpdateRule {
  if (optimizer.type === 'adamw') {
    const { type: _, ...options } = optimizer;
    return adamw(options);
  }
  const { type: _, ...options } = optimizer;
  return sgd(options);
}

function describe(dtype: string, shape: readonly number[]): string {
  return `${dtype} ${shapeText(shape)}`;
}

function contentOf(open: RegularFile, file: string): Uint8Array {
  if (open.size > LARGEST_CASE) {
    throw unreadable(file, `it has ${open.size} bytes; a case.json has ${LARGEST_CASE} at most`);
  }
  const bytes = new Uint8Array(open.size);
  open.read(bytes, 0);
  return bytes;
}

/** A case of which a file cannot be read cannot be read. */
function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof FoldstepError) || cause.code !== 'FILE_UNREADABLE') throw cause;
    throw new FoldstepError('CASE_UNREADABLE', cause.message, { cause });
  }
}

function unreadable(file: string, fault: string, cause?: unknown): FoldstepError {
  return new FoldstepError(
    'CASE_UNREADABLE',
    `${showName(file)}: ${fault}`,
    cause === undefined ? {} : { cause },
  );
}
