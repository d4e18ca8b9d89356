/**
 * Reading the graveyard: a directory that other containers write to, so nothing in it is trusted. Only plain files under
 * a member's name are opened; links are not followed, a FIFO or a device cannot hold up the reader, sizes and numbers
 * are bounded.
 */
import { constants, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMemberName, MAX_BYTES, type Tombstone } from '../../core/tombstone.ts';
import { parseTombstone } from '../../core/tombstone-parse.ts';

export interface Unreadable {
  readonly name: string;
  readonly why: string;
}

/** `unparsable` may be half written and is worth another look, `ignored` is not. */
export type Reading =
  | { readonly kind: 'tombstone'; readonly tombstone: Tombstone; readonly text: string }
  | { readonly kind: 'unparsable'; readonly why: string }
  | { readonly kind: 'ignored'; readonly why: string }
  | { readonly kind: 'missing' };

export interface Listing {
  /** Sorted names of members, whatever is behind them. */
  readonly names: readonly string[];
  readonly ignored: readonly Unreadable[];
}

const MAX_MEMBERS = 1024;
/** Looking stops after that many directory entries. */
const MAX_ENTRIES = 16_384;
const MAX_IGNORED = 32;

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
    else if (reading.kind !== 'missing') unreadable.push({ name, why: reading.why });
  }
  return { members, unreadable };
}

/** Dotfiles (sockets, temporary files) are passed over in silence. */
export async function listMembers(dir: string): Promise<Listing> {
  const names: string[] = [];
  const ignored: Unreadable[] = [];
  let entries = 0;
  for await (const { name } of await openDirectory(dir)) {
    if (++entries > MAX_ENTRIES) break;
    if (name.startsWith('.')) continue;
    if (isMemberName(name) && names.length < MAX_MEMBERS) names.push(name);
    else if (ignored.length < MAX_IGNORED) {
      ignored.push({ name, why: isMemberName(name) ? `more than ${MAX_MEMBERS} members` : 'not a member name' });
    }
  }
  return { names: names.sort(), ignored };
}

/** Never rejects. One thread of the pool at a time is all that a file system that hangs can hold. */
export async function readMember(dir: string, name: string): Promise<Reading> {
  const path = join(dir, name);
  try {
    // Before open(2), which acts on a device.
    const odd = oddity(await lstat(path));
    if (odd !== undefined) return { kind: 'ignored', why: odd };
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return await readOpened(name, file);
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    return { kind: 'unparsable', why: message };
  }
}

async function readOpened(name: string, file: FileHandle): Promise<Reading> {
  // Again, of what was really opened.
  const odd = oddity(await file.stat());
  if (odd !== undefined) return { kind: 'ignored', why: odd };
  const buffer = Buffer.allocUnsafe(MAX_BYTES + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > MAX_BYTES) return { kind: 'ignored', why: tooLarge() };
  const text = buffer.toString('utf8', 0, length);
  const parsed = parseTombstone(name, text);
  return parsed.ok ? { kind: 'tombstone', tombstone: parsed.tombstone, text } : { kind: 'unparsable', why: parsed.why };
}

async function openDirectory(dir: string): Promise<AsyncIterable<{ readonly name: string }>> {
  try {
    return await opendir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { async *[Symbol.asyncIterator]() {} };
    throw error;
  }
}

function oddity(stat: Stats): string | undefined {
  if (stat.isSymbolicLink()) return 'a symbolic link';
  if (!stat.isFile()) return 'not a plain file';
  return stat.size > MAX_BYTES ? tooLarge() : undefined;
}

function tooLarge(): string {
  return `larger than ${MAX_BYTES} bytes`;
}
