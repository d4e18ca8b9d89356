/**
 * What `sexton install` lays into a directory, which may be the mount point of a volume:
 *
 *   sexton                     a link to the program in the version that is installed
 *   tini dumb-init kubexit     the same, for images whose entrypoint has this name
 *   versions/VERSION-DIGEST/   one whole directory, as the inventory in it says
 *
 * The directory is copied under another name, compared with its inventory and renamed; the links follow. So an
 * interrupted run leaves nothing that can be started by its name, and several runs at a time do no harm. The kernel
 * resolves the link when it starts the program: what runs from an older version finds its own files, also when its
 * supervisor is started again. That is why older versions stay until the user, who knows that nothing runs from them,
 * asks for their removal.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DropIn } from '../../../config/dropin/line.ts';
import { SextonError } from '../../../text/errors.ts';
import { INVENTORY, type InventoryFile, inventoryDigest, parseInventory } from './inventory.ts';
import { haveRoom, ownDirectory, whyNotInstalled } from './target.ts';

export interface Installation {
  /** A directory with an inventory. */
  readonly source: string;
  readonly target: string;
  readonly version: string;
  /** Remove other versions: nothing runs from them any more. */
  readonly removeOld: boolean;
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
const OTHER_NAMES: readonly string[] = ['tini', 'dumb-init', 'kubexit'] satisfies readonly DropIn[];
const VERSIONS = 'versions';
/** Begins the names of unfinished copies and of those no longer used. */
const PARTIAL = '.sexton-';
/** More runs at once than these never meet. */
const MAX_RENAMES = 10;
/** A copy takes seconds. What is older was left by a run that was killed. */
const MAX_COPY_MS = 60_000;

export async function installTree({ source, target, version, removeOld }: Installation): Promise<Installed> {
  const { files, digest } = await readInventory(source);
  const name = `${version}-${digest.slice(0, 16)}`;
  const versions = join(target, VERSIONS);
  const place = join(versions, name);
  try {
    await ownDirectory(target, (it) => [VERSIONS, ...OTHER_NAMES].includes(it) || it.startsWith(PARTIAL));
    const isNew = (await firstWrong(place, files)) !== undefined;
    if (isNew) {
      await makeDirectory(versions);
      await removeLeftovers(versions);
      await haveRoom(target, files);
      await copyTree(source, place, files);
    }
    for (const link of [...OTHER_NAMES, LINK]) await pointLink(join(target, link), join(VERSIONS, name, LINK));
    const others = (await readdir(versions)).filter((it) => it !== name && !it.startsWith(PARTIAL)).sort();
    if (removeOld) for (const it of others) await rm(join(versions, it), { recursive: true, force: true });
    const bytes = files.reduce((total, file) => total + file.bytes, 0);
    return { files: files.length, bytes, isNew, digest, others: removeOld ? [] : others };
  } catch (error) {
    if (error instanceof SextonError) throw error;
    throw new SextonError('cannotInstall', { target, why: whyNotInstalled(error) }, { cause: error });
  }
}

async function readInventory(source: string): Promise<{ files: readonly InventoryFile[]; digest: string }> {
  let text: string;
  try {
    text = await readFile(join(source, INVENTORY), 'utf8');
  } catch (error) {
    throw new SextonError('notInstallable', { source, why: 'it has no inventory' }, { cause: error });
  }
  try {
    const files = parseInventory(text);
    const digest = inventoryDigest(text);
    const itself = { path: INVENTORY, mode: 0o644, bytes: Buffer.byteLength(text), sha256: digest };
    return { files: [...files, itself], digest };
  } catch (error) {
    const why = `its inventory is damaged: ${error instanceof Error ? error.message : error}`;
    throw new SextonError('notInstallable', { source, why }, { cause: error });
  }
}

/** Copies to a name of its own beside `place`, checks the copy, and gives it its name. */
async function copyTree(source: string, place: string, files: readonly InventoryFile[]): Promise<void> {
  const partial = temporaryName(place);
  try {
    await mkdir(partial);
    for (const { path } of files) {
      await mkdir(dirname(join(partial, path)), { recursive: true });
      await copyFile(join(source, path), join(partial, path)).catch(async (error: unknown) => {
        await lstat(join(source, path)).catch(() =>
          damaged(join(source, path), 'it is in the inventory, but not there'),
        );
        throw error;
      });
    }
    const wrong = await firstWrong(partial, files);
    if (wrong !== undefined) damaged(join(source, wrong), 'it is not what the inventory says');
    await renameInto(partial, place, files);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

function damaged(source: string, why: string): never {
  throw new SextonError('notInstallable', { source, why });
}

/**
 * A whole copy that another run has put there meanwhile is as good as this one; what is damaged makes way. It is tried
 * again, because another run may do the same at the same moment.
 */
async function renameInto(partial: string, place: string, files: readonly InventoryFile[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    const error = await rename(partial, place).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (error === undefined || (await firstWrong(place, files)) === undefined) return;
    if (tries === MAX_RENAMES) throw error;
    const old = temporaryName(place);
    await rename(place, old).catch(() => {});
    await rm(old, { recursive: true, force: true });
  }
}

/**
 * The first path that is missing, not in the inventory, or not as the inventory says; undefined: the directory is
 * whole.
 */
async function firstWrong(directory: string, files: readonly InventoryFile[]): Promise<string | undefined> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const found = new Map(entries.map((it) => [relative(directory, join(it.parentPath, it.name)), it]));
  const known = new Set(files.map(({ path }) => path));
  // A link is no file, so nothing outside of the directory is taken for a part of it.
  const unknown = [...found].find(([path, it]) => !it.isDirectory() && !(it.isFile() && known.has(path)));
  if (unknown !== undefined) return unknown[0];
  for (const file of files)
    if (!found.has(file.path) || !(await isRight(join(directory, file.path), file).catch(() => false)))
      return file.path;
  return undefined;
}

async function isRight(path: string, { mode, bytes, sha256 }: InventoryFile): Promise<boolean> {
  const found = await lstat(path);
  if (!found.isFile() || (found.mode & 0o777) !== mode || found.size !== bytes) return false;
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex') === sha256;
}

async function makeDirectory(path: string): Promise<void> {
  await mkdir(path).catch(async (error: unknown) => {
    if (!(await lstat(path).catch(() => undefined))?.isDirectory()) throw error;
  });
}

async function removeLeftovers(versions: string): Promise<void> {
  for (const name of await readdir(versions)) {
    const path = join(versions, name);
    const stat = name.startsWith(PARTIAL) ? await lstat(path).catch(() => undefined) : undefined;
    if (stat !== undefined && Date.now() - stat.mtimeMs > MAX_COPY_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Makes one of the program's names mean that version, from one moment to the next. */
async function pointLink(link: string, to: string): Promise<void> {
  if ((await readlink(link).catch(() => undefined)) === to) return;
  const partial = temporaryName(link);
  await symlink(to, partial);
  await rename(partial, link);
}

function temporaryName(path: string): string {
  return join(dirname(path), `${PARTIAL}${randomBytes(6).toString('hex')}`);
}
