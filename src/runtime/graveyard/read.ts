/**
 * Reads the graveyard, a directory that other containers write to, so nothing in it is trusted. Only plain files under
 * a member's name are opened; links are not followed, a FIFO or a device cannot block the reader, sizes are bounded.
 */
import { constants, type Stats } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMemberName, MAX_BYTES, type Tombstone } from '../../core/format/tombstone.ts';
import { parseTombstone } from '../../core/format/tombstone-parse.ts';

export interface Unreadable {
  readonly name: string;
  readonly why: string;
}

export type Reading =
  | { readonly kind: 'tombstone'; readonly tombstone: Tombstone; readonly mark: string }
  /** The content has the known mark. */
  | { readonly kind: 'same' }
  /** It may be half written, so it is worth another reading. */
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
  /** Wanted files that begin with a dot. */
  readonly hidden: readonly string[];
  readonly ignored: readonly Unreadable[];
}

export const MAX_MEMBERS = 128;
/** Files in the directory: a tombstone, a socket, a temporary file and a stop request for each member. */
export const MAX_ENTRIES = 4 * MAX_MEMBERS;
/** Characters of a text that is its own mark. */
const LONG = 8_192;
const TOO_MANY =
  `there are more than ${MAX_MEMBERS} members or ${MAX_ENTRIES} files, and the rest is ignored but for members that flags name; ` +
  'remove what is not of this pod';

/** Everything that can be read, once. A missing graveyard is empty; rejects where it cannot be read. */
export async function readGraveyard(
  dir: string,
): Promise<{ readonly members: readonly Tombstone[]; readonly unreadable: readonly Unreadable[] }> {
  const { names, ignored } = await listMembers(dir);
  const members: Tombstone[] = [];
  const unreadable = [...ignored];
  for (const name of names) {
    const reading = await readMember(dir, name);
    if (reading.kind === 'tombstone') members.push(reading.tombstone);
    else if ('why' in reading) unreadable.push({ name, why: reading.why });
  }
  return { members, unreadable };
}

/** Files that begin with a dot (sockets, temporary files, others' stop requests) are not reported as ignored. */
export async function listMembers(dir: string, isWanted: (file: string) => boolean = () => false): Promise<Listing> {
  const names: string[] = [];
  const hidden: string[] = [];
  const ignored: Unreadable[] = [];
  let entries = 0;
  // One name stands for all that are too many.
  let tooMany: string | undefined;
  const directory = await opendir(dir, { bufferSize: 256 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for await (const { name } of directory) {
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

/** `known`: the mark of the last reading. Never rejects. */
export async function readMember(dir: string, name: string, known?: string): Promise<Reading> {
  const read = await readPlainFile(join(dir, name), MAX_BYTES);
  if (read.kind === 'failed') return { kind: 'unparsable', why: read.why };
  if (read.kind !== 'bytes') return read;
  const text = read.bytes.toString();
  const mark = markOf(text);
  if (mark === known) return { kind: 'same' };
  const parsed = parseTombstone(name, text);
  return parsed.ok ? { kind: 'tombstone', tombstone: parsed.tombstone, mark } : { kind: 'unparsable', why: parsed.why };
}

/** Tells one content from another. Only a long text is hashed, because loading crypto takes a tenth of a wake. */
export function markOf(padded: string): string {
  const text = padded.trimEnd();
  return text.length <= LONG ? text : process.getBuiltinModule('node:crypto').hash('sha256', text);
}

/** Any file of the graveyard. Never rejects. On a file system that hangs it holds one thread of the pool. */
export async function readPlainFile(path: string, maxBytes: number): Promise<PlainReading> {
  try {
    // Before open(2), which acts on a device.
    const odd = oddity(await lstat(path), maxBytes);
    if (odd !== undefined) return { kind: 'ignored', why: odd };
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      // Again, for the file that was really opened.
      const stat = await file.stat();
      const why = oddity(stat, maxBytes);
      if (why !== undefined) return { kind: 'ignored', why };
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(stat.size + 1), 0, stat.size + 1, 0);
      if (bytesRead > stat.size) return { kind: 'failed', why: 'it grows while it is read' };
      return { kind: 'bytes', bytes: buffer.subarray(0, bytesRead) };
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'missing' } : { kind: 'failed', why: message };
  }
}

function oddity(stat: Stats, maxBytes: number): string | undefined {
  if (stat.isSymbolicLink()) return 'a symbolic link';
  if (!stat.isFile()) return 'not a plain file';
  return stat.size > maxBytes ? `larger than ${maxBytes} bytes` : undefined;
}
