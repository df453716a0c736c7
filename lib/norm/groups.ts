import { FoldstepError } from '../errors.js';
import type { FlatLayout } from '../parameters/layout.js';
import { show, showName } from '../show.js';

/** The norm group of a parameter that names none. */
export const DEFAULT_GROUP = 'default';

/** How large a gradient may be before it is scaled down. */
export interface ClipSettings {
  /** Of the whole gradient; null: not clipped. */
  readonly maxNorm: number | null;
  /** Of a norm group on its own; the groups that are not named here are clipped with the whole. */
  readonly groupMaxNorms: ReadonlyMap<string, number>;
}

/** The norm groups of a layout in order of first appearance; at least one. */
export function groupNames(layout: FlatLayout): string[] {
  const names = new Set(layout.parameters.map(({ normGroup }) => normGroup ?? DEFAULT_GROUP));
  return names.size > 0 ? [...names] : [DEFAULT_GROUP];
}

/** Throws INVALID_ARGUMENT for a bound that is no positive number. */
export function checkBounds({ maxNorm, groupMaxNorms }: ClipSettings): void {
  if (maxNorm !== null) checkBound('maxNorm', maxNorm);
  for (const [group, bound] of groupMaxNorms) checkBound(`groupMaxNorms.${showName(group)}`, bound);
}

/** Throws INVALID_ARGUMENT for a bound of a group that does not exist. */
export function checkBoundedGroups({ groupMaxNorms }: ClipSettings, groups: readonly string[]): void {
  const unknown = [...groupMaxNorms.keys()].find((group) => !groups.includes(group));
  if (unknown === undefined) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `groupMaxNorms names the norm group ${showName(unknown)}, which no parameter is in; the groups are ${groups.map(showName).join(', ')}`,
  );
}

function checkBound(name: string, bound: number): void {
  if (Number.isFinite(bound) && bound > 0) return;
  throw new FoldstepError(
    'INVALID_ARGUMENT',
    `${name} must be a positive number, or null for no clipping; it is ${show(bound)}`,
  );
}
