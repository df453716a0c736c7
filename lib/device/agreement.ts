import { FoldstepError } from '../errors.js';
import { showText } from '../show.js';
import type { Communicator } from './communicator.js';
import type { Device } from './device.js';
import { gatherTexts } from './small-arrays.js';

const LONGEST_ITEM = 500;
const LONGEST_ORDER = 2000;

/**
 * Throws PARAMETERS_DIFFER on every member of the communicator unless all give the same text, one line an item; shows the
 * first line in which two of them differ and, where order matters, the orders of both: each line up to its first `|`.
 */
export async function requireAgreement(
  device: Device,
  communicator: Communicator,
  what: string,
  text: string,
  show: 'items' | 'orders' = 'items',
): Promise<void> {
  const texts = await gatherTexts(device, communicator, text);
  const other = texts.findIndex((candidate) => candidate !== texts[0]);
  if (other < 0) return;
  const [here, there] = [texts[0]!.split('\n'), texts[other]!.split('\n')];
  const line = here.findIndex((value, index) => value !== there[index]);
  const at = line < 0 ? here.length : line;
  const [first, second] = [communicator.worldRanks[0]!, communicator.worldRanks[other]!];
  const item = (lines: readonly string[]) => showText(lines[at] ?? '(nothing)', LONGEST_ITEM);
  const order = (lines: readonly string[]) =>
    showText(lines.map((value) => value.split('|')[0]).join(', '), LONGEST_ORDER);
  const orders =
    show === 'orders' ? `; rank ${first}'s order is ${order(here)}; rank ${second}'s is ${order(there)}` : '';
  throw new FoldstepError(
    'PARAMETERS_DIFFER',
    `${what} differ between ranks: rank ${first} has ${item(here)}, rank ${second} has ${item(there)}${orders}; give every rank the same`,
    { rank: device.rank, peer: device.rank === first ? second : first },
  );
}
