/** Calls before anything is timed, in each turn. */
export const WARM_UPS = 10;

/** Timed calls in all. */
export const TIMED_CALLS = 40;

/** Everything that is compared runs in turn, A B A B: each turn has its share of the timed calls. */
export const TURNS = 2;

/** Of one turn. */
export interface CallCounts {
  readonly warmUps: number;
  readonly timed: number;
}

export const CALLS_PER_TURN: CallCounts = { warmUps: WARM_UPS, timed: TIMED_CALLS / TURNS };

/** What a row tells of its samples, in milliseconds. */
export interface Timing {
  readonly medianMs: number;
  readonly p10Ms: number;
  readonly p90Ms: number;
}

/** Quantiles of one sample or more, interpolated between neighbours. */
export function timingOf(samplesMs: readonly number[]): Timing {
  const sorted = [...samplesMs].sort((a, b) => a - b);
  const at = (share: number): number => {
    const place = share * (sorted.length - 1);
    const below = sorted[Math.floor(place)]!;
    return below + (sorted[Math.ceil(place)]! - below) * (place % 1);
  };
  return { medianMs: at(0.5), p10Ms: at(0.1), p90Ms: at(0.9) };
}

/** Milliseconds of each timed call; `before` runs untimed ahead of every call. */
export async function timeCalls(
  { warmUps, timed }: CallCounts,
  call: () => unknown,
  before: () => unknown = () => {},
): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < warmUps + timed; i++) {
    await before();
    const start = performance.now();
    await call();
    const end = performance.now();
    if (i >= warmUps) samples.push(end - start);
  }
  return samples;
}

/** 10^9 bytes a second. */
export function gigabytesPerSecond(bytes: number, milliseconds: number): number {
  return bytes / milliseconds / 1e6;
}
