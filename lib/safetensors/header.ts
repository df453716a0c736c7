import { type Fault, JsonTokens, TOKEN } from '../files/json-tokens.js';
import { readCounts, readObject, skipValue } from '../files/json-values.js';
import { show, showName } from '../show.js';
import { bytesOf, type DTypeName, isDType } from './dtypes.js';
import { elementsOf, shapeText } from './shape.js';

/** A tensor of a safetensors file: `begin` and `end` are byte offsets from the end of the header. */
export interface TensorInfo {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** A tensor as a header gives it: of a dtype that the format has. */
export interface HeaderTensor extends TensorInfo {
  readonly dtype: DTypeName;
}

/** Everything that a header says. */
export interface Header {
  readonly tensors: ReadonlyMap<string, HeaderTensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Bytes before the header, which say how long it is. */
export const LENGTH_BYTES = 8;
/** The longest header that the format allows. */
export const LARGEST_HEADER = 100_000_000;
/** What the format calls the metadata: no tensor has this name. */
export const METADATA = '__metadata__';

/** Texts of metadata. Objects of millions of keys take minutes to make. */
export const MOST_METADATA = 100_000;

/**
 * Reads a header of `bytes`, before `dataBytes` bytes of tensors. Throws `fault(what is wrong)` for anything the format forbids.
 * It goes over the bytes once: time and memory grow with the header as a line does, whatever is in it.
 */
export function parseHeader(bytes: Uint8Array, dataBytes: number, fault: Fault): Header {
  if (bytes[0] !== TOKEN.openObject) throw fault('its header does not start with {');
  const tokens = new JsonTokens(bytes, (text) => fault(`its header is not JSON that can be read: ${text}`));
  const tensors = new Map<string, HeaderTensor>();
  let metadata: Readonly<Record<string, string>> | undefined;
  readObject(
    tokens,
    (name) => {
      if (name === METADATA) metadata = readMetadata(tokens, fault);
      else tensors.set(name, readTensor(name, tokens, fault));
    },
    { add: (name) => (name === METADATA ? metadata === undefined : !tensors.has(name)) },
  );
  tokens.end();
  checkContiguous(tensors, dataBytes, fault);
  return { tensors, metadata: metadata ?? Object.create(null) };
}

function readMetadata(tokens: JsonTokens, fault: Fault): Record<string, string> {
  const refuse = () => fault(`${METADATA} is not an object of texts`);
  if (tokens.peek() !== TOKEN.openObject) throw refuse();
  // Without a prototype: a key may be __proto__.
  const metadata: Record<string, string> = Object.create(null);
  let texts = 0;
  readObject(
    tokens,
    (key) => {
      if (tokens.peek() !== TOKEN.quote) throw refuse();
      if (++texts > MOST_METADATA) throw fault(`${METADATA} has more than ${MOST_METADATA} texts`);
      metadata[key] = tokens.text();
    },
    { add: (key) => !(key in metadata) },
  );
  return metadata;
}

function readTensor(name: string, tokens: JsonTokens, fault: Fault): HeaderTensor {
  const wrong = (what: string): Error => fault(`tensor ${showName(name)} ${what}`);
  if (tokens.peek() !== TOKEN.openObject) {
    skipValue(tokens);
    throw wrong('is not an object');
  }
  let dtype: string | undefined;
  let shape: number[] | undefined;
  let offsets: number[] | undefined;
  readObject(tokens, (key) => {
    const start = tokens.position;
    if (key === 'dtype' && tokens.peek() === TOKEN.quote) dtype = tokens.text();
    else if (key === 'shape') {
      shape = readCounts(tokens);
      if (!shape) throw wrong(`has shape ${tokens.passedSince(start)}, not a list of sizes`);
    } else if (key === 'data_offsets') {
      offsets = readCounts(tokens);
      if (offsets?.length === 2) return;
      throw wrong(`has data_offsets ${tokens.passedSince(start)}, not two byte offsets`);
    } else skipValue(tokens);
  });
  if (dtype === undefined || !shape || !offsets) {
    throw wrong('lacks one of dtype, a text, shape and data_offsets');
  }
  if (!isDType(dtype)) throw wrong(`has unknown dtype ${show(dtype)}`);
  const [begin, end] = offsets as [number, number];
  const wanted = bytesOf(dtype, elementsOf(shape));
  if (end - begin === wanted) return { dtype, shape, begin, end };
  const size = wanted === undefined ? 'no number of bytes that can be' : `${wanted} bytes`;
  throw wrong(
    `is ${dtype} ${shapeText(shape)}, ${size}, but its data_offsets [${begin}, ${end}] span ${end - begin}`,
  );
}

function checkContiguous(tensors: ReadonlyMap<string, TensorInfo>, dataBytes: number, fault: Fault): void {
  const inOrder = [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  let reached = 0;
  for (const [name, { begin, end }] of inOrder) {
    if (begin > reached)
      throw fault(`bytes ${reached} to ${begin} before tensor ${showName(name)} belong to no tensor`);
    if (begin < reached)
      throw fault(`tensor ${showName(name)} begins at byte ${begin}, inside one that ends at ${reached}`);
    reached = end;
  }
  if (reached > dataBytes)
    throw fault(`its tensors end at byte ${reached}, but only ${dataBytes} are there: it is cut short`);
  if (reached < dataBytes)
    throw fault(`${dataBytes - reached} bytes after the last tensor belong to no tensor`);
}
