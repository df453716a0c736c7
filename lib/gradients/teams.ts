import type { Communicator } from '../device/communicator.js';
import type { Team } from '../device/operations/team.js';
import type { PeerWindow } from '../device/peer-window.js';
import type { Grid, RankGroup } from '../mesh/mesh.js';

/** A group of this rank and the means to reach its members. */
export interface GroupTeam {
  readonly group: RankGroup;
  readonly team: Team;
  /** Whether every member is in the window. */
  readonly shared: boolean;
  /** For people, such as "tp ranks 0, 1 of the dense grid". */
  readonly description: string;
}

const SHOWN_RANKS = 8;

/**
 * This rank's teams, one for each set of axes that a reduction runs over. Making one is collective over the pipeline
 * stage: every rank of it asks for the same axes in the same order.
 */
export class Teams {
  readonly #stage: Communicator;
  readonly #rank: number;
  readonly #window: PeerWindow | undefined;
  readonly #inWindow: ReadonlySet<number>;
  readonly #teams = new Map<string, GroupTeam>();

  /** `window` is over the ranks of the stage that share memory with this one; none where it is alone. */
  constructor(stage: Communicator, window: PeerWindow | undefined) {
    this.#stage = stage;
    this.#rank = stage.worldRanks[stage.rank]!;
    this.#window = window;
    this.#inWindow = new Set(window?.worldRanks ?? [this.#rank]);
  }

  async make(grid: Grid, axes: readonly string[]): Promise<GroupTeam> {
    const key = keyOf(grid, axes);
    const known = this.#teams.get(key);
    if (known) return known;
    const group = grid.group(this.#rank, axes);
    const communicator = await this.#stage.split(group.at(0), this.#rank);
    const ranks =
      group.size <= SHOWN_RANKS ? group.ranks().join(', ') : `${group.at(0)} and ${group.size - 1} others`;
    const shared = allIn(group, this.#inWindow);
    const made: GroupTeam = {
      group,
      team: {
        communicator,
        ...(shared && this.#window ? { window: this.#window } : {}),
        channel: this.#teams.size,
      },
      shared,
      description: `${axes.join(' and ') || 'own'} ranks ${ranks} of the ${grid.name} grid`,
    };
    this.#teams.set(key, made);
    return made;
  }

  dispose(): void {
    for (const { team } of this.#teams.values()) team.communicator.dispose();
    this.#teams.clear();
  }
}

function keyOf(grid: Grid, axes: readonly string[]): string {
  return `${grid.name}:${axes.join(',')}`;
}

function allIn(group: RankGroup, ranks: ReadonlySet<number>): boolean {
  if (group.size > ranks.size) return false;
  return group.ranks().every((rank) => ranks.has(rank));
}
