import { checkWhole } from '../arguments.js';

/**
 * The learning rate of a step, 1 for the first: `optimizer.learningRate = schedule(step)`. A pure function, so that every rank
 * has the same rate and a run that is taken up again needs its step number alone. Throws INVALID_ARGUMENT unless `step` is a
 * whole number from 1.
 */
export type Schedule = (step: number) => number;

/** `rate` takes the steps done before this one: 0 for the first. */
export function scheduleFrom(rate: (done: number) => number): Schedule {
  return (step) => {
    checkWhole('step', step, 1);
    return rate(step - 1);
  };
}
