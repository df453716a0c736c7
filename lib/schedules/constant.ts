import { checkAmount } from '../update/rule.js';
import { type Schedule, scheduleFrom } from './schedule.js';

/** The same rate at every step. Throws INVALID_ARGUMENT for a rate below 0. */
export function constantLR(lr: number): Schedule {
  checkAmount('lr', lr);
  return scheduleFrom(() => lr);
}
