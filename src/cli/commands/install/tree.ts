/**
 * What `sexton install` lays into a directory, which may be the mount point of a volume:
 *
 *   sexton                     a link to the program in the version that is installed
 *   tini dumb-init kubexit     the same, for images whose entrypoint has this name
 *   versions/VERSION-DIGEST/   one whole directory, as the inventory in it says
 *
 * The directory is copied to a temporary name, verified and renamed; the links follow. So an interrupted run leaves
 * nothing that can be started, and several runs at a time do no harm. Older versions stay, because something may still
 * run from them: the user asks for their removal.
 *
 * Another container may write to the volume, and put a link in the place of a directory. So each directory is opened
 * without following a link, and everything in it goes through its descriptor.
 */
import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import {
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rmdir,
  statfs,
  symlink,
  unlink,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DROP_INS } from '../../../config/dropin/dropin.ts';
import { inDirectory, look } from '../../../runtime/graveyard/directory.ts';
import { SextonError } from '../../../text/errors.ts';
import { INVENTORY, type InventoryFile, inventoryDigest, parseInventory } from './inventory.ts';

export interface Installation {
  readonly source: string;
  readonly target: string;
  readonly version: string;
  /** Remove other versions: nothing runs from them any more. */
  readonly removeOld: boolean;
  /** The digest that the inventory must have, in hex. */
  readonly expected?: string | undefined;
}

export interface Installed {
  readonly files: number;
  readonly bytes: number;
  /** False: it was there already. */
  readonly isNew: boolean;
  readonly digest: string;
  /** Other versions that are still there. */
  readonly others: readonly string[];
}

const LINK = 'sexton';
const OTHER_NAMES: readonly string[] = DROP_INS;
const VERSIONS = 'versions';
const PARTIAL = '.sexton-';
/** A copy takes seconds. An older one was left by a run that was killed. */
const MAX_COPY_MS = 60_000;

export async function installTree({ source, target, version, removeOld, expected }: Installation): Promise<Installed> {
  const { files, digest } = await readInventory(source);
  if (expected !== undefined && expected !== digest)
    notInstallable(source, `its digest is sha256:${digest}, and --expect names sha256:${expected}`);
  const name = `${version}-${digest.slice(0, 16)}`;
  const bytes = files.reduce((total, file) => total + file.bytes, 0);
  try {
    return await inMade(target, async (here) => {
      await refuseForeign(here, target);
      return inMade(join(here, VERSIONS), async (versions) => {
        const place = join(versions, name);
        const isNew = (await firstWrong(place, files)) !== undefined;
        if (isNew) {
          await removeLeftovers(versions);
          await checkRoom(here, target, files);
          await copyTree(source, place, files);
        }
        for (const link of [...OTHER_NAMES, LINK]) await pointLink(join(here, link), join(VERSIONS, name, LINK));
        const others = (await readdir(versions)).filter((it) => it !== name && !it.startsWith(PARTIAL)).sort();
        if (removeOld) for (const it of others) await remove(join(versions, it));
        return { files: files.length, bytes, isNew, digest, others: removeOld ? [] : others };
      });
    });
  } catch (error) {
    if (error instanceof SextonError) throw error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new SextonError('cannotInstall', { target, why: INSTALL_PROBLEMS[code] ?? message }, { cause: error });
  }
}

/** As `inDirectory`, in a directory that is created if it is missing. */
async function inMade<T>(directory: string, work: (here: string) => Promise<T>): Promise<T> {
  await mkdir(directory).catch(unless('EEXIST'));
  return inDirectory(directory, work);
}

function unless(code: string) {
  return (error: NodeJS.ErrnoException): void => {
    if (error.code !== code) throw error;
  };
}

/** For directories and the file system's own use. */
const SLACK_BYTES = 1 << 20;

/** Refuses a directory that holds anything but an installation. */
async function refuseForeign(here: string, target: string): Promise<void> {
  const names = await readdir(here);
  // An installation creates this link last. A copy by other means has a file of that name.
  const link = await look(join(here, LINK));
  // A volume that is a disk of its own always has lost+found.
  const known = [VERSIONS, ...OTHER_NAMES, 'lost+found'];
  const foreign = names.find((name) => !known.includes(name) && !name.startsWith(PARTIAL));
  if (foreign === undefined || link?.isSymbolicLink()) return;
  const why = `it holds ${JSON.stringify(foreign)}, which is not of an installation; name an empty directory`;
  throw new SextonError('cannotInstall', { target, why });
}

/** statfs(2) knows the file system, not the sizeLimit of an emptyDir. */
async function checkRoom(here: string, target: string, copied: readonly InventoryFile[]): Promise<void> {
  const { bsize, bavail, files, ffree } = await statfs(here);
  const needed = copied.reduce((total, { bytes }) => total + Math.ceil(bytes / bsize) * bsize, SLACK_BYTES);
  // A file system without a count of inodes says 0 of 0.
  const lacksFiles = files > 0 && ffree < copied.length + 10;
  if (bavail * bsize >= needed && !lacksFiles) return;
  const why = lacksFiles
    ? `it needs ${copied.length} files and the file system has room for ${ffree} more`
    : `it needs ${inMiB(needed)} and ${inMiB(bavail * bsize)} are free; give the volume more room`;
  throw new SextonError('cannotInstall', { target, why });
}

export function inMiB(bytes: number): string {
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

const FULL = 'there is no room left; give the volume more, or a larger sizeLimit';
const DENIED = `uid ${process.getuid?.() ?? '?'} may not write there; mount an emptyDir, or set fsGroup`;
const INSTALL_PROBLEMS: Readonly<Record<string, string>> = {
  ELOOP: `it, or ${VERSIONS} in it, is a symbolic link, which sexton does not follow; remove the link`,
  ENOENT: 'the directory that it is to be made in is not there; mount the volume, and name its mount point',
  ENOTDIR: 'it is not a directory; name one, or what is to become one',
  EROFS: 'the file system is read-only; mount the volume writable in the container that installs',
  EACCES: DENIED,
  EPERM: DENIED,
  ENOSPC: FULL,
  EDQUOT: FULL,
};

async function readInventory(source: string): Promise<{ files: readonly InventoryFile[]; digest: string }> {
  const text = await readFile(join(source, INVENTORY), 'utf8').catch(() =>
    notInstallable(source, 'it has no inventory'),
  );
  try {
    const digest = inventoryDigest(text);
    const itself = { path: INVENTORY, mode: 0o644, bytes: Buffer.byteLength(text), sha256: digest };
    return { files: [...parseInventory(text), itself], digest };
  } catch (error) {
    return notInstallable(source, `its inventory is damaged: ${(error as Error).message}`);
  }
}

async function copyTree(source: string, place: string, files: readonly InventoryFile[]): Promise<void> {
  const partial = temporaryName(place);
  try {
    for (const { path } of files) await copyInto(partial, path.split('/'), join(source, path));
    const wrong = await firstWrong(partial, files);
    if (wrong !== undefined) notInstallable(join(source, wrong), 'it is not what the inventory says');
    await putInPlace(partial, place, files);
  } finally {
    await remove(partial);
  }
}

async function copyInto(directory: string, [name = '', ...rest]: readonly string[], from: string): Promise<void> {
  await inMade(directory, async (here) => {
    const to = join(here, name);
    if (rest.length > 0) return copyInto(to, rest, from);
    await copyFile(from, to, constants.COPYFILE_EXCL).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      notInstallable(from, 'it is in the inventory, but not there');
    });
  });
}

/** A whole copy that another run has put there meanwhile stays; a damaged one makes way. */
async function putInPlace(partial: string, place: string, files: readonly InventoryFile[]): Promise<void> {
  const error = await rename(partial, place).catch((error: unknown) => error);
  if (error === undefined || (await firstWrong(place, files)) === undefined) return;
  const old = temporaryName(place);
  await rename(place, old);
  await remove(old);
  await rename(partial, place);
}

function notInstallable(source: string, why: string): never {
  throw new SextonError('notInstallable', { source, why });
}

/** The first path that is missing, not in the inventory, or not as it says; undefined: the directory is whole. */
function firstWrong(directory: string, files: readonly InventoryFile[]): Promise<string | undefined> {
  const inside = async (here: string): Promise<string | undefined> => {
    const entries = await readdir(here, { recursive: true, withFileTypes: true });
    const found = entries.filter((it) => !it.isDirectory());
    const paths = found.map(({ parentPath, name }) => relative(here, join(parentPath, name)));
    const unknown = paths.find((path) => !files.some((file) => file.path === path));
    if (unknown !== undefined) return unknown;
    for (const file of files) if (!(await isRight(join(here, file.path), file).catch(() => false))) return file.path;
    return undefined;
  };
  return inDirectory(directory, inside).catch(() => INVENTORY);
}

/** A link is not right, so that nothing outside of the directory is taken for a part of it. */
async function isRight(path: string, { mode, bytes, sha256 }: InventoryFile): Promise<boolean> {
  const found = await lstat(path);
  if (!found.isFile() || (found.mode & 0o777) !== mode || found.size !== bytes) return false;
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex') === sha256;
}

async function removeLeftovers(versions: string): Promise<void> {
  for (const name of await readdir(versions)) {
    const path = join(versions, name);
    const stat = name.startsWith(PARTIAL) ? await look(path) : undefined;
    if (stat !== undefined && Date.now() - stat.mtimeMs > MAX_COPY_MS) await remove(path);
  }
}

/** Points one of the program's names to that version atomically. */
async function pointLink(link: string, to: string): Promise<void> {
  if ((await readlink(link).catch(() => undefined)) === to) return;
  const partial = temporaryName(link);
  await symlink(to, partial);
  await rename(partial, link);
}

/** Node's rm goes by paths, even without `recursive`, and follows a link that replaces a directory meanwhile. */
async function remove(path: string): Promise<void> {
  const isDirectory = (await look(path))?.isDirectory();
  const empty = async (here: string): Promise<void> => {
    for (const name of await readdir(here)) await remove(join(here, name));
  };
  const removing = isDirectory ? inDirectory(path, empty).then(() => rmdir(path)) : unlink(path);
  await removing.catch(unless('ENOENT'));
}

function temporaryName(path: string): string {
  return join(dirname(path), `${PARTIAL}${randomBytes(6).toString('hex')}`);
}
