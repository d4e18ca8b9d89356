/** Checks of the directory that an installation goes to: whether it may be used, and whether there is room. */
import { lstat, mkdir, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { SextonError } from '../../../text/errors.ts';
import type { InventoryFile } from './inventory.ts';

/** For directories and the file system's own use. */
const SLACK_BYTES = 1 << 20;

/** Makes the directory if it is missing. Refuses one that holds anything but an installation. */
export async function ownDirectory(target: string, isOurs: (name: string) => boolean): Promise<void> {
  const refuse = (why: string): never => {
    throw new SextonError('cannotInstall', { target, why });
  };
  const found = await stat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) return await mkdir(target);
  if (!found.isDirectory()) return refuse('it is not a directory; name one, or what is to become one');
  const names = await readdir(target);
  // An installation makes this link last. A copy by other means has a file of that name.
  const link = await lstat(join(target, 'sexton')).catch(() => undefined);
  if (link?.isSymbolicLink()) return;
  // A volume that is a disk of its own always has lost+found.
  const foreign = names.find((name) => name !== 'lost+found' && !isOurs(name));
  if (foreign !== undefined)
    refuse(`it holds ${JSON.stringify(foreign)}, which is not of an installation; name an empty directory`);
}

/** statfs(2) knows the file system, not the sizeLimit of an emptyDir. */
export async function haveRoom(target: string, copied: readonly InventoryFile[]): Promise<void> {
  const { bsize, bavail, files, ffree } = await statfs(target);
  const needed = copied.reduce((total, { bytes }) => total + Math.ceil(bytes / bsize) * bsize, SLACK_BYTES);
  if (bavail * bsize < needed) {
    const why = `it needs ${inMiB(needed)} and ${inMiB(bavail * bsize)} are free; give the volume more room`;
    throw new SextonError('cannotInstall', { target, why });
  }
  // A file system without a count of inodes says 0 of 0.
  if (files > 0 && ffree < copied.length + 10) {
    const why = `it needs ${copied.length} files and the file system has room for ${ffree} more`;
    throw new SextonError('cannotInstall', { target, why });
  }
}

export function whyNotInstalled(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const known = code === undefined ? undefined : INSTALL_PROBLEMS[code];
  return known ?? message;
}

export function inMiB(bytes: number): string {
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

const FULL = 'there is no room left; give the volume more, or a larger sizeLimit';
const uid = (): string => `uid ${process.getuid?.() ?? '?'}`;
const INSTALL_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'the directory that it is to be made in is not there; mount the volume, and name its mount point',
  ENOTDIR: 'a part of the path is not a directory',
  EROFS: 'the file system is read-only; mount the volume writable in the container that installs',
  EACCES: `${uid()} may not write there; mount an emptyDir, or set fsGroup`,
  EPERM: `${uid()} may not write there; mount an emptyDir, or set fsGroup`,
  ENOSPC: FULL,
  EDQUOT: FULL,
};
