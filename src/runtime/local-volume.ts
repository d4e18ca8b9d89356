/**
 * Which volumes are local: this kernel makes every change in them itself, so it reports each one. On NFS, 9p and FUSE
 * another machine may change a file without an event.
 */
import { lstat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';

/** As in linux/magic.h: tmpfs, ramfs, ext2 to ext4, XFS, Btrfs, F2FS, overlayfs, ZFS, bcachefs. */
const LOCAL: ReadonlySet<number> = new Set([
  0x01021994, 0x858458f6, 0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x794c7630, 0x2fc12fc1, 0xca451a4e,
]);

export async function isLocal(dir: string): Promise<boolean> {
  return LOCAL.has((await statfs(dir).catch(() => undefined))?.type ?? 0);
}

/** The same for a file, or for the directory where it would be created. */
export async function isLocalFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(({ code }: NodeJS.ErrnoException) => code);
  return isLocal(found === 'ENOENT' ? dirname(path) : path);
}
