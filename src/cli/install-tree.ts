/**
 * What `sexton install` lays into a directory, which may be the mount point of a volume:
 *
 *   sexton                     a link to the program in the version that is installed
 *   tini dumb-init kubexit     the same, for those whose entrypoint has this name
 *   versions/VERSION-DIGEST/   one whole directory, as the inventory in it says
 *
 * Each file is written beside its place, read back, compared with the inventory and renamed into its place; the link follows
 * when all are right. So an interrupted run leaves nothing that can be started by its name, the next one goes on where it
 * broke off, two at a time do no harm, and a second run only looks. The kernel resolves the link when it starts the
 * program: what runs from an older version finds its own files, also when its supervisor is started again.
 * That is why older versions stay until somebody who knows that nothing runs from them asks for their removal.
 */
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DropIn } from './dropin.ts';
import { SextonError } from './errors.ts';
import { isInPlace, putInPlace, syncDirectory } from './install-file.ts';
import { haveRoom, ownDirectory, whyNot } from './install-target.ts';
import { INVENTORY, type InventoryFile, inventoryDigest, parseInventory } from './inventory.ts';

export interface Installation {
  /** A directory with an inventory. */
  readonly source: string;
  readonly target: string;
  readonly version: string;
  /** Nothing runs from other versions any more. */
  readonly removeOld: boolean;
}

export interface Installed {
  readonly files: number;
  readonly bytes: number;
  /** What had to be written for it. */
  readonly placed: { readonly files: number; readonly bytes: number };
  readonly digest: string;
  /** Versions that are there besides. */
  readonly others: readonly string[];
}

const LINK = 'sexton';
const OTHER_NAMES: readonly string[] = ['tini', 'dumb-init', 'kubexit'] satisfies readonly DropIn[];
const VERSIONS = 'versions';
/** Begins the names of what is not finished. */
const PARTIAL = '.sexton-';

export async function installTree({ source, target, version, removeOld }: Installation): Promise<Installed> {
  const { files, digest } = await readInventory(source);
  const name = `${version}-${digest.slice(0, 16)}`;
  const place = join(target, VERSIONS, name);
  try {
    await ownDirectory(target, (it) => [VERSIONS, ...OTHER_NAMES].includes(it) || it.startsWith(PARTIAL));
    const missing = await notInPlace(place, files);
    await haveRoom(target, missing);
    for (const directory of directoriesOf(target, place, missing)) await ensureDirectory(directory);
    for (const file of missing) await putInPlace(join(source, file.path), join(place, file.path), file, PARTIAL);
    await removeUnknown(place, files);
    for (const link of [...OTHER_NAMES, LINK]) await point(join(target, link), join(VERSIONS, name, LINK));
    const others = (await readdir(join(target, VERSIONS))).filter((it) => it !== name).sort();
    if (removeOld) for (const it of others) await rm(join(target, VERSIONS, it), { recursive: true, force: true });
    return {
      files: files.length,
      bytes: sum(files),
      placed: { files: missing.length, bytes: sum(missing) },
      digest,
      others: removeOld ? [] : others,
    };
  } catch (error) {
    if (error instanceof SextonError) throw error;
    throw new SextonError('cannotInstall', { target, why: whyNot(error) }, { cause: error });
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

async function notInPlace(place: string, files: readonly InventoryFile[]): Promise<InventoryFile[]> {
  const missing: InventoryFile[] = [];
  for (const file of files) if (!(await isInPlace(join(place, file.path), file))) missing.push(file);
  return missing;
}

/** Parents first. */
function directoriesOf(target: string, place: string, files: readonly InventoryFile[]): Set<string> {
  const within = files.map(({ path }) => dirname(join(place, path))).sort();
  return new Set(files.length === 0 ? [] : [join(target, VERSIONS), place, ...within]);
}

async function ensureDirectory(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found !== undefined && !found.isDirectory()) await rm(path);
  await mkdir(path).catch(async (error: unknown) => {
    if (!(await lstat(path).catch(() => undefined))?.isDirectory()) throw error;
  });
}

/** Left by a run that was broken off. */
async function removeUnknown(place: string, files: readonly InventoryFile[]): Promise<void> {
  const known = new Set(files.map(({ path }) => join(place, path)));
  const found = await readdir(place, { recursive: true, withFileTypes: true });
  for (const it of found) {
    const path = join(it.parentPath, it.name);
    if (!it.isDirectory() && !known.has(path)) await rm(path, { force: true });
  }
  const directories = found.filter((it) => it.isDirectory()).map((it) => join(it.parentPath, it.name));
  for (const it of [...directories, place]) await syncDirectory(it);
}

/** Makes one of the program's names mean that version, from one moment to the next. */
async function point(link: string, to: string): Promise<void> {
  const target = dirname(link);
  if ((await readlink(link).catch(() => undefined)) === to) return;
  await syncDirectory(join(target, VERSIONS));
  const partial = join(target, `${PARTIAL}${randomBytes(6).toString('hex')}`);
  await symlink(to, partial);
  await rename(partial, link);
  await syncDirectory(target);
}

function sum(files: readonly InventoryFile[]): number {
  return files.reduce((total, { bytes }) => total + bytes, 0);
}
