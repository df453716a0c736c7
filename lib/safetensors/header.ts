import { findDuplicateKey } from './duplicate-keys.js';

/** A tensor of a safetensors file: `begin` and `end` are byte offsets from the end of the header. */
export interface TensorInfo {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** Everything that a header says. */
export interface Header {
  readonly tensors: ReadonlyMap<string, TensorInfo>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Bytes before the header, which say how long it is. */
export const LENGTH_BYTES = 8;
/** The longest header that the format allows. */
export const LARGEST_HEADER = 100_000_000;
/** What the format calls the metadata: no tensor has this name. */
export const METADATA = '__metadata__';

const DTYPE_BYTES: Readonly<Record<string, number>> = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E5M2: 1,
  F8_E4M3: 1,
  U16: 2,
  I16: 2,
  F16: 2,
  BF16: 2,
  U32: 4,
  I32: 4,
  F32: 4,
  U64: 8,
  I64: 8,
  F64: 8,
};

type Fault = (text: string) => Error;

/** Reads a header of `bytes`, before `dataBytes` bytes of tensors. Throws `fault(what is wrong)` for anything the format forbids. */
export function parseHeader(bytes: Uint8Array, dataBytes: number, fault: Fault): Header {
  const tensors = new Map<string, TensorInfo>();
  let metadata: Readonly<Record<string, string>> = {};
  for (const [name, value] of Object.entries(parseObject(bytes, fault))) {
    if (name === METADATA) metadata = metadataOf(value, fault);
    else tensors.set(name, tensorInfo(name, value, fault));
  }
  checkContiguous(tensors, dataBytes, fault);
  return { tensors, metadata };
}

function parseObject(bytes: Uint8Array, fault: Fault): Record<string, unknown> {
  if (bytes[0] !== 0x7b) throw fault('its header does not start with {');
  let text: string;
  let header: Record<string, unknown>;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    header = JSON.parse(text);
  } catch (cause) {
    throw fault(`its header is not JSON: ${(cause as Error).message}`);
  }
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined) throw fault(`its header has ${JSON.stringify(duplicate)} twice`);
  return header;
}

function metadataOf(value: unknown, fault: Fault): Record<string, string> {
  if (isObject(value) && Object.values(value).every((entry) => typeof entry === 'string')) {
    return value as Record<string, string>;
  }
  throw fault(`${METADATA} is not an object of texts`);
}

function tensorInfo(name: string, value: unknown, fault: Fault): TensorInfo {
  if (!isObject(value)) throw fault(`tensor ${name} is not an object`);
  const { dtype, shape, data_offsets: offsets } = value;
  const elementBytes = typeof dtype === 'string' && Object.hasOwn(DTYPE_BYTES, dtype) && DTYPE_BYTES[dtype];
  if (!elementBytes) throw fault(`tensor ${name} has unknown dtype ${JSON.stringify(dtype)}`);
  if (!isCounts(shape)) throw fault(`tensor ${name} has shape ${JSON.stringify(shape)}, not a list of sizes`);
  if (!isCounts(offsets) || offsets.length !== 2) {
    throw fault(`tensor ${name} has data_offsets ${JSON.stringify(offsets)}, not two byte offsets`);
  }
  const [begin, end] = offsets as [number, number];
  const wanted = shape.reduce((product, size) => product * size, elementBytes);
  if (end - begin !== wanted) {
    throw fault(
      `tensor ${name} is ${dtype} [${shape.join(', ')}], ${wanted} bytes, but its data_offsets [${begin}, ${end}] span ${end - begin}`,
    );
  }
  return { dtype: dtype as string, shape, begin, end };
}

function checkContiguous(tensors: ReadonlyMap<string, TensorInfo>, dataBytes: number, fault: Fault): void {
  const inOrder = [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  let reached = 0;
  for (const [name, { begin, end }] of inOrder) {
    if (begin > reached)
      throw fault(`bytes ${reached} to ${begin} before tensor ${name} belong to no tensor`);
    if (begin < reached)
      throw fault(`tensor ${name} begins at byte ${begin}, inside one that ends at ${reached}`);
    reached = end;
  }
  if (reached > dataBytes)
    throw fault(`its tensors end at byte ${reached}, but only ${dataBytes} are there: it is cut short`);
  if (reached < dataBytes)
    throw fault(`${dataBytes - reached} bytes after the last tensor belong to no tensor`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((entry) => Number.isSafeInteger(entry) && entry >= 0);
}
