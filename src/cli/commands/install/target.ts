/** Checks the directory that an installation goes to: whether it may be used, and whether there is room. */
import { lstat, mkdir, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { SextonError } from '../../../text/errors.ts';
import type { InventoryFile } from './inventory.ts';

/** For directories and the file system's own use. */
const SLACK_BYTES = 1 << 20;

/** Creates the directory if it is missing. Refuses one that holds anything but an installation. */
export async function openTarget(target: string, isOurs: (name: string) => boolean): Promise<void> {
  const names = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return mkdir(target).then(() => []);
  });
  // An installation creates this link last. A copy by other means has a file of that name.
  const link = await lstat(join(target, 'sexton')).catch(() => undefined);
  // A volume that is a disk of its own always has lost+found.
  const foreign = names.find((name) => name !== 'lost+found' && !isOurs(name));
  if (foreign === undefined || link?.isSymbolicLink()) return;
  const why = `it holds ${JSON.stringify(foreign)}, which is not of an installation; name an empty directory`;
  throw new SextonError('cannotInstall', { target, why });
}

/** statfs(2) knows the file system, not the sizeLimit of an emptyDir. */
export async function checkRoom(target: string, copied: readonly InventoryFile[]): Promise<void> {
  const { bsize, bavail, files, ffree } = await statfs(target);
  const needed = copied.reduce((total, { bytes }) => total + Math.ceil(bytes / bsize) * bsize, SLACK_BYTES);
  // A file system without a count of inodes says 0 of 0.
  const lacksFiles = files > 0 && ffree < copied.length + 10;
  if (bavail * bsize >= needed && !lacksFiles) return;
  const why = lacksFiles
    ? `it needs ${copied.length} files and the file system has room for ${ffree} more`
    : `it needs ${inMiB(needed)} and ${inMiB(bavail * bsize)} are free; give the volume more room`;
  throw new SextonError('cannotInstall', { target, why });
}

export function whyNotInstalled({ code = '', message }: NodeJS.ErrnoException): string {
  return INSTALL_PROBLEMS[code] ?? message;
}

export function inMiB(bytes: number): string {
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

const FULL = 'there is no room left; give the volume more, or a larger sizeLimit';
const DENIED = `uid ${process.getuid?.() ?? '?'} may not write there; mount an emptyDir, or set fsGroup`;
const INSTALL_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'the directory that it is to be made in is not there; mount the volume, and name its mount point',
  ENOTDIR: 'it is not a directory; name one, or what is to become one',
  EROFS: 'the file system is read-only; mount the volume writable in the container that installs',
  EACCES: DENIED,
  EPERM: DENIED,
  ENOSPC: FULL,
  EDQUOT: FULL,
};
