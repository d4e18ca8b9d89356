/**
 * Reading the graveyard: a directory that other containers write to, so nothing in it is trusted. Only plain files
 * under a member's name are opened; links are not followed, a FIFO or a device cannot hold up the reader, sizes and
 * numbers are bounded.
 */
import { constants, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMemberName, MAX_BYTES, type Tombstone } from '../../core/format/tombstone.ts';
import { parseTombstone } from '../../core/format/tombstone-parse.ts';

export interface Unreadable {
  readonly name: string;
  readonly why: string;
}

/** `unparsable` may be half written and is worth another look, `ignored` is not. */
export type Reading =
  | { readonly kind: 'tombstone'; readonly tombstone: Tombstone; readonly mark: string }
  /** Its content has the mark that is known. */
  | { readonly kind: 'same' }
  | { readonly kind: 'unparsable'; readonly why: string }
  | { readonly kind: 'ignored'; readonly why: string }
  | { readonly kind: 'missing' };

export type PlainReading =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'ignored'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'missing' };

export interface Listing {
  /** Sorted names of members, whatever is behind them. */
  readonly names: readonly string[];
  /** Files that begin with a dot and are wanted all the same. */
  readonly hidden: readonly string[];
  readonly ignored: readonly Unreadable[];
}

/** Far more than a pod has. */
export const MAX_MEMBERS = 128;
/** Of the directory: for each member its tombstone, its socket, a temporary file and a stop request. */
export const MAX_ENTRIES = 4 * MAX_MEMBERS;

/** Of a tombstone, in characters. */
const LONG = 8_192;
const TOO_MANY =
  `there are more than ${MAX_MEMBERS} members or ${MAX_ENTRIES} files, and the rest is ignored but for members that flags name; ` +
  'remove what is not of this pod';

/** All that can be read, once. A graveyard that is not there is empty; one that cannot be read rejects. */
export async function readGraveyard(
  dir: string,
): Promise<{ readonly members: readonly Tombstone[]; readonly unreadable: readonly Unreadable[] }> {
  const { names, ignored } = await listMembers(dir);
  const members: Tombstone[] = [];
  const unreadable: Unreadable[] = [...ignored];
  for (const name of names) {
    const reading = await readMember(dir, name);
    if (reading.kind === 'tombstone') members.push(reading.tombstone);
    else if (reading.kind !== 'missing' && reading.kind !== 'same') unreadable.push({ name, why: reading.why });
  }
  return { members, unreadable };
}

/** Dotfiles (sockets, temporary files, others' stop requests) are passed over in silence. */
export async function listMembers(dir: string, isWanted: (file: string) => boolean = () => false): Promise<Listing> {
  const names: string[] = [];
  const hidden: string[] = [];
  const ignored: Unreadable[] = [];
  let entries = 0;
  // Of what is simply too much one is named.
  let tooMany: string | undefined;
  for await (const { name } of await openDirectory(dir)) {
    if (entries++ === MAX_ENTRIES) {
      tooMany ??= name;
      break;
    }
    if (name.startsWith('.')) {
      if (isWanted(name)) hidden.push(name);
    } else if (!isMemberName(name)) ignored.push({ name, why: 'not a member name' });
    else if (names.length < MAX_MEMBERS) names.push(name);
    else tooMany ??= name;
  }
  if (tooMany !== undefined) ignored.unshift({ name: tooMany, why: TOO_MANY });
  return { names: names.sort(), hidden, ignored };
}

/** `known`: the mark of what was read last. Never rejects. One thread of the pool at a time is all that a file system that hangs can hold. */
export async function readMember(dir: string, name: string, known?: string): Promise<Reading> {
  const read = await readPlainFile(join(dir, name), MAX_BYTES);
  if (read.kind === 'failed') return { kind: 'unparsable', why: read.why };
  if (read.kind !== 'bytes') return read;
  const text = read.bytes.toString();
  // Without what it is padded with.
  const mark = markOf(text.trimEnd());
  if (mark === known) return { kind: 'same' };
  const parsed = parseTombstone(name, text);
  if (!parsed.ok) return { kind: 'unparsable', why: parsed.why };
  return { kind: 'tombstone', tombstone: parsed.tombstone, mark };
}

/** Tells one content from another. A text of the usual length is its own: to load crypto takes a tenth of a wake. */
function markOf(text: string): string {
  return text.length <= LONG ? text : process.getBuiltinModule('node:crypto').hash('sha256', text);
}

/** Any file of the graveyard, trusted with nothing. Never rejects. */
export async function readPlainFile(path: string, maxBytes: number): Promise<PlainReading> {
  try {
    // Before open(2), which acts on a device.
    const odd = oddity(await lstat(path), maxBytes);
    if (odd !== undefined) return { kind: 'ignored', why: odd };
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return await readOpened(file, maxBytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    return { kind: 'failed', why: message };
  }
}

async function readOpened(file: FileHandle, maxBytes: number): Promise<PlainReading> {
  // Again, of what was really opened.
  const stat = await file.stat();
  const odd = oddity(stat, maxBytes);
  if (odd !== undefined) return { kind: 'ignored', why: odd };
  // Mostly enough; a file that grows meanwhile is read to its end or found too large.
  let buffer = Buffer.allocUnsafe(stat.size + 1);
  let length = 0;
  while (length <= maxBytes) {
    if (length === buffer.length) buffer = Buffer.concat([buffer], maxBytes + 1);
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    // Less than there was room for, and as much as there is: the end.
    if (bytesRead === 0 || length === stat.size) break;
  }
  if (length > maxBytes) return { kind: 'ignored', why: tooLarge(maxBytes) };
  return { kind: 'bytes', bytes: buffer.subarray(0, length) };
}

async function openDirectory(dir: string): Promise<AsyncIterable<{ readonly name: string }>> {
  try {
    return await opendir(dir, { bufferSize: 256 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { async *[Symbol.asyncIterator]() {} };
    throw error;
  }
}

function oddity(stat: Stats, maxBytes: number): string | undefined {
  if (stat.isSymbolicLink()) return 'a symbolic link';
  if (!stat.isFile()) return 'not a plain file';
  return stat.size > maxBytes ? tooLarge(maxBytes) : undefined;
}

function tooLarge(maxBytes: number): string {
  return `larger than ${maxBytes} bytes`;
}
