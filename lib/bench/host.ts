import { availableParallelism, cpus } from 'node:os';

/** The machine a run was on. */
export interface Host {
  readonly processor: string;
  readonly cores: number;
  readonly node: string;
}

export function describeHost(): Host {
  return {
    processor: cpus()[0]?.model.trim() ?? process.arch,
    cores: availableParallelism(),
    node: process.version,
  };
}

/** For people, in one line. */
export function hostText({ processor, cores, node }: Host): string {
  return `${processor}, ${cores} ${cores === 1 ? 'core' : 'cores'}, Node ${node}`;
}
