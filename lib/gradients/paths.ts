import type { DeviceKind } from '../device/device.js';
import type { FoldPath } from '../device/operations/team.js';
import { FoldstepError } from '../errors.js';

/** `auto`: the fastest path that a team's members can take. */
export type PathChoice = FoldPath | 'auto';

export const PATH_CHOICES: readonly PathChoice[] = ['auto', 'direct', 'owner', 'exchange', 'library'];

/** What a choice depends on. */
export interface PathCircumstances {
  /** What the members compute on. */
  readonly kind: DeviceKind;
  /** Whether the team's members share memory. */
  readonly shared: boolean;
  /** Members that hold copies of one shard. */
  readonly replicas: number;
  readonly mirror: boolean;
  /** The team, for people. */
  readonly team: string;
}

/**
 * Over a link between GPUs, direct moves 2(T-1) bytes an element into each of T replicas, owner 6(T-1)/T: equal at three.
 * On processors the link is memory: at two replicas direct moves 12 bytes an element and rank, owner 8. A mirror costs
 * direct a second pass and owner none. Throws PATH_UNAVAILABLE where a path that needs shared memory is asked for without it.
 */
export function resolvePath(
  choice: PathChoice,
  { kind, shared, replicas, mirror, team }: PathCircumstances,
): FoldPath {
  if (choice === 'auto') {
    if (!shared) return 'exchange';
    if (replicas === 1) return 'direct';
    return kind !== 'cpu' && replicas === 2 && !mirror ? 'direct' : 'owner';
  }
  if (!shared && (choice === 'direct' || choice === 'owner')) {
    throw new FoldstepError(
      'PATH_UNAVAILABLE',
      `path ${choice} needs ranks that share memory, and ${team} are not all on one node; use 'auto', 'exchange' or 'library'`,
    );
  }
  return choice;
}
