import { checkSetting } from '../update/rule.js';
import { type Schedule, scheduleFrom } from './schedule.js';

/** The same rate at every step. Throws INVALID_ARGUMENT for a rate below 0. */
export function constantLR(lr: number): Schedule {
  checkSetting('lr', lr, 0, Number.POSITIVE_INFINITY);
  return scheduleFrom(() => lr);
}
