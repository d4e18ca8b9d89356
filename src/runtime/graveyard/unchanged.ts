/**
 * Which files of the graveyard need no second reading in a scan: those whose inode, size and times are what they were
 * before the last one. In a pod of many members that is nearly all that a rescan finds, and a look costs a sixth of a
 * reading.
 *
 * Two changes within one tick of the kernel's clock leave the same times, so a file that was changed less than a second
 * ago is read again; so are all where the times may be another machine's or out of a cache, as on NFS: statfs(2) tells.
 */
import { lstat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Longer than any tick, and than what a clock is usually set by. */
const SETTLED_MS = 1_000;
/** As in linux/magic.h: tmpfs, ramfs, ext2 to ext4, XFS, Btrfs, F2FS, overlayfs, ZFS, bcachefs. */
const LOCAL: ReadonlySet<number> = new Set([
  0x01021994, 0x858458f6, 0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x794c7630, 0x2fc12fc1, 0xca451a4e,
]);

export class Unchanged {
  readonly #dir: string;
  readonly #marks = new Map<string, string>();
  #isTrusted = false;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** At the beginning of a scan. */
  async begin(): Promise<void> {
    this.#isTrusted = await isLocal(this.#dir);
    if (!this.#isTrusted) this.#marks.clear();
  }

  /**
   * Whether a file that was read and understood is as it was. If not, it is to be read now: the mark for the next time
   * is taken here.
   */
  async compare(name: string): Promise<boolean> {
    if (!this.#isTrusted) return false;
    const mark = await markOf(join(this.#dir, name));
    if (mark !== undefined && mark === this.#marks.get(name)) return true;
    if (mark === undefined) this.#marks.delete(name);
    else this.#marks.set(name, mark);
    return false;
  }

  forget(name: string): void {
    this.#marks.delete(name);
  }
}

/** Whether this kernel itself makes every change in this directory, and tells of it. */
export function isLocal(dir: string): Promise<boolean> {
  return statfs(dir).then(
    ({ type }) => LOCAL.has(type),
    () => false,
  );
}

/** The same of a file, or of the place where it would be made. */
export async function isLocalFile(path: string): Promise<boolean> {
  const isMissing = await lstat(path).then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'ENOENT',
  );
  return isLocal(isMissing ? dirname(path) : path);
}

/** undefined: not there, or too young to be told apart from its next change. */
async function markOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await lstat(path);
    return ctimeMs <= Date.now() - SETTLED_MS ? [dev, ino, size, mtimeMs, ctimeMs].join() : undefined;
  } catch {
    return undefined;
  }
}
