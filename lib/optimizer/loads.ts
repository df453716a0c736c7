import { createHash } from 'node:crypto';
import type { Parameter } from '../parameters/parameter.js';
import { Balance, type Claim } from './balance.js';

/** A parameter's copies and this rank's place among them. */
interface Copies {
  readonly about: string;
  readonly members: number;
  readonly index: number;
}

const NEVER = 'never';

/**
 * What was loaded into each parameter, and when: ranks that hold copies must have loaded the same, since the same gradients
 * keep copies apart that begin apart.
 */
export class Loads {
  readonly #copies: ReadonlyMap<string, Copies>;
  readonly #values = new Map<string, string>();
  #balance: Balance | undefined;
  /** Steps that all ranks have finished. */
  #finished = 0;

  constructor(parameters: readonly Parameter[], rank: number) {
    this.#copies = new Map(
      parameters.map((parameter) => {
        const group = parameter.grid.group(rank, parameter.copyAxes(false));
        const about = `${parameter.name} as loaded on rank ${group.at(0)} and its copies`;
        const members = parameter.localSize === 0 ? 1 : group.size;
        return [parameter.name, { about, members, index: group.index }] as const;
      }),
    );
  }

  /** `values`: this rank's whole local part, also what it does not own. */
  record(name: string, values: Float32Array): void {
    if (this.#copies.get(name)!.members === 1) return;
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    const digest = createHash('sha256').update(bytes).digest('hex');
    this.#values.set(name, `${this.#finished}:${digest}`);
    this.#balance = undefined;
  }

  /** Counts a step that all ranks have finished, also one that was skipped. */
  stepFinished(): void {
    this.#finished += 1;
  }

  claim(name: string): Claim {
    return { ...this.#copies.get(name)!, value: this.#values.get(name) ?? NEVER };
  }

  /** Of the claims of all parameters. */
  get balance(): Balance {
    this.#balance ??= new Balance().addAll([...this.#copies.keys()].map((name) => this.claim(name)));
    return this.#balance;
  }
}

/** Says of two claims' values how they differ. */
export function describeLoads(name: string, first: LoadedBy, second: LoadedBy): string {
  const [one, other] = [timeOf(first.value), timeOf(second.value)];
  const copies = `both hold copies of the same elements: load the same on both`;
  if (one === other) {
    return `rank ${second.rank} loaded other values into parameter ${name} than rank ${first.rank}, and ${copies}`;
  }
  return `rank ${first.rank} loaded parameter ${name} ${one}, rank ${second.rank} ${other}, and ${copies}`;
}

export interface LoadedBy {
  readonly rank: number;
  readonly value: string;
}

function timeOf(value: string): string {
  if (value === NEVER) return NEVER;
  const steps = value.slice(0, value.indexOf(':'));
  return steps === '0' ? 'before the first step' : `after step ${steps}`;
}
