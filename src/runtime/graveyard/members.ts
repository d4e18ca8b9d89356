/**
 * The members of a pod as a reader from outside sees them: their tombstones, and which of them have vanished without a
 * death, or sleep.
 */
import { lstat, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { handleOf, type Tombstone } from '../../core/format/tombstone.ts';
import { type Handle, probeHandle } from './handle.ts';
import { readGraveyard, type Unreadable } from './read.ts';

export interface Members {
  /** Sorted by name; the `Reason` of a member that is gone without a death is `lost`. */
  readonly members: readonly Tombstone[];
  readonly unreadable: readonly Unreadable[];
  /** Members that may or may not be gone, and the error of connecting to their sockets. */
  readonly unknown: readonly Unreadable[];
  /** The names of members whose socket a process of this kernel holds. */
  readonly held: ReadonlySet<string>;
  /** The names of members whose supervisor sleeps. */
  readonly asleep: ReadonlySet<string>;
}

/** Rejects where there is no graveyard: for a reader that is most likely the wrong path. */
export async function readMembers(dir: string): Promise<Members> {
  await stat(dir);
  const { members, unreadable } = await readGraveyard(dir);
  const probed = await Promise.all(members.map(async (member) => ({ member, handle: await probe(dir, member) })));
  const held = probed.flatMap(({ member: { Name }, handle }) => (handle.is === 'held' ? [Name] : []));
  return {
    // A member that was killed with its whole container could not write its death.
    members: probed.map(({ member, handle }) => (handle.is === 'abandoned' ? { ...member, Reason: 'lost' } : member)),
    unreadable,
    unknown: probed.flatMap(({ member: { Name }, handle }) =>
      handle.is === 'unknown' ? [{ name: Name, why: handle.why }] : [],
    ),
    asleep: await readSleepers(dir, held),
    held: new Set(held),
  };
}

/** kubexit has no socket, and the dead have closed theirs. */
async function probe(dir: string, { Version, Died, Name }: Tombstone): Promise<Handle> {
  return Version === 0 || Died !== undefined ? { is: 'none' } : probeHandle(join(dir, handleOf(Name)));
}

/**
 * Those of these members whose supervisor sleeps. The init of each holds a read lock on the tombstone meanwhile, which
 * the kernel lists in every container and drops when that init ends. No file is written, which would wake the others.
 * Where the kernel does not list locks (gVisor) none seems to sleep.
 */
export async function readSleepers(dir: string, names: readonly string[]): Promise<ReadonlySet<string>> {
  const locked = lockedIn(await readFile('/proc/locks', 'latin1').catch(() => ''));
  const keys = await Promise.all(names.map((name) => keyOf(join(dir, name))));
  return new Set(names.filter((_, index) => locked.has(keys[index] ?? '')));
}

/** `1: OFDLCK ADVISORY  READ -1 fe:00:15343672 0 EOF`: proc_locks(5). */
function lockedIn(locks: string): ReadonlySet<string> {
  const found = locks.matchAll(/^\d+: OFDLCK +ADVISORY +READ +-?\d+ +([0-9a-f]+:[0-9a-f]+:\d+) /gm);
  return new Set([...found].map(([, key]) => key ?? ''));
}

/** undefined: there is no such file. The device number is split as makedev(3) packs it. */
async function keyOf(path: string): Promise<string | undefined> {
  const stat = await lstat(path, { bigint: true }).catch(() => undefined);
  if (stat === undefined) return undefined;
  const { dev, ino } = stat;
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  return [hex(major), hex(minor), ino].join(':');
}

function hex(number: bigint): string {
  return number.toString(16).padStart(2, '0');
}
