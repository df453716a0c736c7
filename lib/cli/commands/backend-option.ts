import { Option } from 'commander';
import { DEVICES } from '../../device/device.js';

/** What ranks compute on. */
export function backendOption(): Option {
  const option = new Option('--backend <device>', 'what the ranks compute on');
  return option.choices(Object.keys(DEVICES)).default('cpu');
}
