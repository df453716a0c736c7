import { FoldstepError } from '../errors.js';
import { showText } from '../show.js';
import type { Communicator } from './communicator.js';
import type { Device } from './device.js';

const LONGEST_ITEM = 500;
const LONGEST_ORDER = 2000;

/** Every rank's text, in rank order. Collective. */
export async function gatherText(
  device: Device,
  communicator: Communicator,
  text: string,
): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const { rank, size } = communicator;
  const lengths = device.allocate(8 * (size + 1));
  const own = lengths.view('float64', 0, 1);
  const all = lengths.view('float64', 8, size);
  own.write(Float64Array.of(bytes.length));
  await communicator.allGather(own, all);
  const counts = [...all.read()];
  lengths.dispose();

  const longest = Math.max(1, ...counts);
  const texts = device.allocate(longest * (size + 1));
  const source = texts.view('uint8', 0, longest);
  const target = texts.view('uint8', longest, longest * size);
  source.subview(0, bytes.length).write(bytes);
  await communicator.allGather(source, target);
  const decoder = new TextDecoder();
  const gathered = target.read();
  const result = counts.map((count, r) =>
    decoder.decode(gathered.subarray(r * longest, r * longest + count)),
  );
  texts.dispose();
  if (result[rank] !== text) throw new FoldstepError('INTERNAL', 'a gathered text came back changed');
  return result;
}

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
  const texts = await gatherText(device, communicator, text);
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
