/**
 * Whose supervisor sleeps. Its init then holds a read lock on the member's tombstone, which the kernel lists, in every
 * container, and lets go of when that init ends. Nothing is written for it, so that nobody is woken.
 */
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Those of these members. Where the kernel does not list locks (gVisor) nobody seems to sleep. */
export async function readSleepers(dir: string, names: readonly string[]): Promise<ReadonlySet<string>> {
  const locked = lockedIn(await readFile('/proc/locks', 'latin1').catch(() => ''));
  const looks = names.map(async (name) => {
    const { dev, ino } = await lstat(join(dir, name), { bigint: true });
    return locked.has(keyOf(dev, ino)) ? [name] : [];
  });
  const found = await Promise.all(looks.map((look) => look.catch(() => [])));
  return new Set(found.flat());
}

/** `1: OFDLCK ADVISORY  READ -1 fe:00:15343672 0 EOF`: proc_locks(5). */
function lockedIn(locks: string): ReadonlySet<string> {
  return new Set(
    [...locks.matchAll(/^\d+: OFDLCK +ADVISORY +READ +-?\d+ +([0-9a-f]+:[0-9a-f]+:\d+) /gm)].map(
      ([, key]) => key ?? '',
    ),
  );
}

/** As makedev(3) packs the two. */
function keyOf(dev: bigint, ino: bigint): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  return [hex(major), hex(minor), ino].join(':');
}

function hex(number: bigint): string {
  return number.toString(16).padStart(2, '0');
}
