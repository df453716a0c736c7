import { generator } from '../device/random.js';
import { FAULTS } from './catalogue.js';
import type { Fault } from './fault.js';
import { MICROBATCHES, type Moment, type Plan, STEPS } from './plan.js';

const PATHS = ['auto', 'direct', 'owner', 'exchange', 'library'] as const;
const WORLDS = [2, 3, 4, 5, 6, 7, 8];
const LONGEST_DELAY_MS = 12;

export interface Choice {
  readonly seed: number;
  readonly runs: number;
  /** The faults to draw; default all. */
  readonly only?: readonly string[] | undefined;
  /** The one number of ranks to draw; default 2 to 8. */
  readonly ranks?: number | undefined;
}

/**
 * The runs of a campaign, the same for the same choice; fewer runs are the first ones of more. Everything comes equally
 * often: each fault once before one comes twice, and so the numbers of ranks, and the moments of each fault.
 */
export function draw({ seed, runs, only, ranks }: Choice): Plan[] {
  const random = generator(seed);
  // The first numbers of neighbouring seeds are alike.
  for (let i = 0; i < 10; i++) random();
  const below = (count: number) => Math.min(count - 1, Math.floor(((random() + 1) / 2) * count));
  // Of the cards that are left it gives one of those that came least often, also from decks with the same counts.
  const deck = <T>(cards: readonly T[], counts = new Map<T, number>()) => {
    let left: T[] = [];
    return () => {
      if (left.length === 0) left = [...cards];
      const times = (card: T) => counts.get(card) ?? 0;
      const least = Math.min(...left.map(times));
      const rarest = left.filter((card) => times(card) === least);
      const card = rarest[below(rarest.length)]!;
      left = left.filter((other) => other !== card);
      counts.set(card, least + 1);
      return card;
    };
  };
  const faults = deck(only === undefined ? FAULTS : FAULTS.filter(({ name }) => only.includes(name)));
  const worlds = deck(ranks === undefined ? WORLDS : [ranks]);
  const paths = deck(PATHS);
  const stages = deck([0, 1, 2] as const);
  const corrections = deck(['microbatch', 'step'] as const);
  const moments = new Map<Fault, () => Moment>();
  const momentCounts = new Map<Moment, number>();

  return Array.from({ length: runs }, (_, run) => {
    const fault = faults();
    if (!moments.has(fault)) moments.set(fault, deck(fault.moments, momentCounts));
    const world = worlds();
    const sizes = divisorsOf(world);
    const moment = moments.get(fault)!();
    const step = below(STEPS);
    return {
      run,
      fault: fault.name,
      moment,
      // After the last save the ranks wait for nobody.
      step: fault.whileNeeded && moment === 'in saving' ? Math.min(step, STEPS - 2) : step,
      microbatch: below(MICROBATCHES),
      delayMs: below(LONGEST_DELAY_MS),
      culprit: below(world),
      ranks: world,
      tp: sizes[below(sizes.length)]!,
      ep: sizes[below(sizes.length)]!,
      zeroStage: stages(),
      path: paths(),
      correct: corrections(),
    };
  });
}

function divisorsOf(whole: number): number[] {
  return Array.from({ length: whole }, (_, i) => i + 1).filter((size) => whole % size === 0);
}
