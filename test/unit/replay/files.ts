import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const fixtures = fileURLToPath(new URL('../../../../test/fixtures/replay/', import.meta.url));

/** The header of a safetensors file without metadata. */
export type Header = Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }>;

/** A recorded case's folder. */
export function fixture(name: string): string {
  return join(fixtures, name);
}

/** A folder for one test's files; `remove` it afterwards. */
export class Scratch {
  readonly folder = mkdtempSync(join(tmpdir(), 'foldstep-test-'));

  write(name: string, content: string | Uint8Array): string {
    const file = join(this.folder, name);
    writeFileSync(file, content);
    return file;
  }

  /** A copy of a recorded case. */
  copyCase(name: string): string {
    const folder = join(this.folder, name);
    cpSync(fixture(name), folder, { recursive: true });
    return folder;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A safetensors file of this header, which may be text that is no JSON, and data. */
export function safetensors(header: unknown, data: Uint8Array): Buffer {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}

/** Sets one field of a case's case.json, such as `mesh.tp` or `parameters.0.name`; undefined removes it. */
export function editCase(folder: string, path: string, value: unknown): void {
  const file = join(folder, 'case.json');
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const keys = path.split('.');
  const last = keys.pop()!;
  const parent = keys.reduce((at, key) => (at as Record<string, unknown>)[key], content);
  (parent as Record<string, unknown>)[last] = value;
  writeFileSync(file, JSON.stringify(content));
}

/** Changes the header of a safetensors file; the data stays as it is. */
export function editHeader(file: string, edit: (header: Header) => void): void {
  const { header, data } = split(readFileSync(file));
  edit(header);
  writeFileSync(file, safetensors(header, data));
}

/** Changes the bytes of one tensor of a safetensors file. */
export function editTensor(file: string, tensor: string, edit: (bytes: DataView) => void): void {
  const { header, data } = split(readFileSync(file));
  const [begin, end] = header[tensor]!.data_offsets;
  edit(new DataView(data.buffer, data.byteOffset + begin, end - begin));
  writeFileSync(file, safetensors(header, data));
}

function split(bytes: Buffer): { header: Header; data: Buffer } {
  const end = 8 + Number(bytes.readBigUInt64LE());
  return { header: JSON.parse(bytes.subarray(8, end).toString()), data: bytes.subarray(end) };
}
