import { FoldstepError } from '../errors.js';
import type { CorrectionTime } from '../gradients/correction-time.js';
import { PATH_CHOICES, type PathChoice } from '../gradients/paths.js';
import type { ZeroStage } from '../parameters/placement.js';
import { show } from '../show.js';

/** How a case is replayed; whatever it is, the same numbers must come out. */
export interface Setting {
  readonly path: PathChoice;
  readonly correct: CorrectionTime;
  readonly zeroStage: ZeroStage;
}

/** Values as a command line gives them: one each, or several with commas between. */
export interface SettingChoices {
  path?: string | undefined;
  correct?: string | undefined;
  zero?: string | undefined;
}

const CORRECTION_TIMES: readonly CorrectionTime[] = ['microbatch', 'step'];
const ZERO_STAGES: readonly ZeroStage[] = [0, 1, 2];

/**
 * Every combination of the choices, for a case recorded at `recordedStage`: what is not chosen is path `auto`,
 * correction per micro-batch, and the case's own ZeRO stage. Throws INVALID_ARGUMENT for a value that is none.
 */
export function settingsOf(choices: SettingChoices, recordedStage: ZeroStage): Setting[] {
  const paths = chosen('--path', choices.path, PATH_CHOICES) ?? ['auto'];
  const times = chosen('--correct', choices.correct, CORRECTION_TIMES) ?? ['microbatch'];
  const stages = chosen('--zero', choices.zero, ZERO_STAGES) ?? [recordedStage];
  return paths.flatMap((path) =>
    times.flatMap((correct) => stages.map((zeroStage) => ({ path, correct, zeroStage }))),
  );
}

function chosen<T>(option: string, text: string | undefined, allowed: readonly T[]): T[] | undefined {
  return text?.split(',').map((word) => {
    const value = allowed.find((candidate) => String(candidate) === word.trim());
    if (value !== undefined) return value;
    throw new FoldstepError('INVALID_ARGUMENT', `${option} may be ${allowed.join(', ')}, not ${show(word)}`);
  });
}
