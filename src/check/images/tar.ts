/**
 * Reads tar archives: ustar, with the long names of GNU tar and of pax, as they come in images. Only headers are kept, and the contents
 * that are asked for.
 */
import { Bytes, DamagedError } from './bytes.ts';

export interface TarEntry {
  /** As it stands there: `./bin/sh`, `bin/`. */
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'symlink' | 'hardlink' | 'other';
  /** Where a link leads; else empty. */
  readonly target: string;
  /** Where its content begins in the archive, in bytes. */
  readonly offset: number;
  /** Of its content, in bytes. */
  readonly size: number;
  /** undefined: not asked for. */
  readonly content: Buffer | undefined;
}

const NO_ARCHIVE = 'it is no tar archive';
const BLOCK = 512;
/** More than any header that says a name. */
const MAX_EXTENSION = 1 << 20;
/** PATH_MAX of Linux: no engine unpacks a longer one. */
const MAX_PATH = 4096;

/** `wants`: whose content is kept in memory. */
export async function* entriesOf(
  chunks: AsyncIterable<Buffer>,
  wants: (entry: Omit<TarEntry, 'content'>) => boolean = () => false,
): AsyncGenerator<TarEntry> {
  const bytes = new Bytes(chunks);
  let next: Extension = {};
  for (;;) {
    const header = await bytes.take(BLOCK, NO_ARCHIVE);
    // Two blocks of zeros end it; some writers leave them out.
    if (header === undefined || header.every((byte) => byte === 0)) return;
    checkSum(header);
    const type = String.fromCharCode(header[156] ?? 0);
    const size = next.size ?? numberAt(header, 124, 12);
    const padded = Math.ceil(size / BLOCK) * BLOCK;
    if (EXTENSIONS.has(type)) {
      if (size > MAX_EXTENSION) throw new DamagedError('it has a header that is too long');
      const content = (await bytes.mustTake(padded)).subarray(0, size);
      if (type !== 'g') next = { ...next, ...extensionOf(type, content) };
      continue;
    }
    const name = next.name ?? nameOf(header);
    const hasContent = !/[1-6]/.test(type);
    const entry = {
      name,
      kind: KINDS[type] ?? (/[0\0 7]/.test(type) ? (name.endsWith('/') ? 'directory' : 'file') : 'other'),
      target: next.target ?? textAt(header, 157, 100),
      offset: bytes.position,
      size: hasContent ? size : 0,
    } as const;
    next = {};
    if (Math.max(name.length, entry.target.length) > MAX_PATH) throw new DamagedError('it has a path that is too long');
    const isWanted = hasContent && wants(entry);
    const content = isWanted ? (await bytes.mustTake(padded)).subarray(0, size) : undefined;
    if (hasContent && !isWanted) await bytes.skip(padded);
    yield { ...entry, content };
  }
}

const KINDS: Readonly<Record<string, TarEntry['kind']>> = { '1': 'hardlink', '2': 'symlink', '5': 'directory' };
/** What speaks of the entry behind it; `g` of all. */
const EXTENSIONS: ReadonlySet<string> = new Set(['x', 'g', 'L', 'K']);

interface Extension {
  readonly name?: string;
  readonly target?: string;
  readonly size?: number;
}

function extensionOf(type: string, content: Buffer): Extension {
  if (type === 'L') return { name: textAt(content, 0, content.length) };
  if (type === 'K') return { target: textAt(content, 0, content.length) };
  const records = paxRecords(content);
  const [name, target, size] = ['path', 'linkpath', 'size'].map((key) => records.get(key));
  if (size !== undefined && !/^\d{1,15}$/.test(size)) throw new DamagedError('it has a pax header that cannot be read');
  return {
    ...(name !== undefined && { name }),
    ...(target !== undefined && { target }),
    ...(size !== undefined && { size: Number(size) }),
  };
}

/** Records of `LENGTH KEY=VALUE\n`, of which the length counts all of it, in bytes. */
function paxRecords(content: Buffer): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(' ', at);
    const length = Number(content.toString('latin1', at, Math.max(at, space)));
    if (space < 0 || !Number.isInteger(length) || length <= space - at)
      throw new DamagedError('it has a pax header that cannot be read');
    const record = content.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}

/** POSIX has a field for the beginning of a long name; GNU has other things there. */
function nameOf(header: Buffer): string {
  const prefix = textAt(header, 257, 6) === 'ustar' && header[262] === 0 ? textAt(header, 345, 155) : '';
  const name = textAt(header, 0, 100);
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textAt(block: Buffer, from: number, length: number): string {
  const field = block.subarray(from, from + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

/** Octal; GNU writes what is too large for that in bytes, with the first bit set. */
function numberAt(block: Buffer, from: number, length: number): number {
  const field = block.subarray(from, from + length);
  if (((field[0] ?? 0) & 0x80) !== 0) {
    let value = (field[0] ?? 0) & 0x7f;
    for (const byte of field.subarray(1)) value = value * 256 + byte;
    if (Number.isSafeInteger(value)) return value;
  }
  const text = textAt(block, from, length).trim();
  if (!/^[0-7]*$/.test(text)) throw new DamagedError('it has a header with a number that cannot be read');
  return text === '' ? 0 : Number.parseInt(text, 8);
}

function checkSum(header: Buffer): void {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  if (Number.parseInt(textAt(header, 148, 8), 8) !== sum) throw new DamagedError(NO_ARCHIVE);
}
