import { disagreements } from './catalogue/disagreements.js';
import { endings } from './catalogue/endings.js';
import { harmless } from './catalogue/harmless.js';
import { resources } from './catalogue/resources.js';
import { signals } from './catalogue/signals.js';
import type { Fault } from './fault.js';

/** Every kind of fault that the campaign knows. A new one is an entry in one of the lists. */
export const FAULTS: readonly Fault[] = [...endings, ...disagreements, ...resources, ...signals, ...harmless];

export function faultNamed(name: string): Fault {
  const fault = FAULTS.find((candidate) => candidate.name === name);
  if (fault) return fault;
  throw new Error(`there is no fault '${name}'; there are ${FAULTS.map((known) => known.name).join(', ')}`);
}
