/**
 * Which supervisors sleep. The init of each holds a read lock on the member's tombstone meanwhile. The kernel lists the
 * lock in every container, and drops it when that init ends. No file is written, which would wake the others.
 */
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The sleepers among these members. Where the kernel does not list locks (gVisor) none seems to sleep. */
export async function readSleepers(dir: string, names: readonly string[]): Promise<ReadonlySet<string>> {
  const locked = lockedIn(await readFile('/proc/locks', 'latin1').catch(() => ''));
  const keys = await Promise.all(names.map((name) => keyOf(join(dir, name))));
  return new Set(names.filter((_, index) => locked.has(keys[index] ?? '')));
}

/** `1: OFDLCK ADVISORY  READ -1 fe:00:15343672 0 EOF`: proc_locks(5). */
function lockedIn(locks: string): ReadonlySet<string> {
  return new Set(
    [...locks.matchAll(/^\d+: OFDLCK +ADVISORY +READ +-?\d+ +([0-9a-f]+:[0-9a-f]+:\d+) /gm)].map(
      ([, key]) => key ?? '',
    ),
  );
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
