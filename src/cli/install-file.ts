/** One file of an installation: looked at, or written, read back and renamed into its place. */
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, copyFile, type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SextonError } from './errors.ts';
import type { InventoryFile } from './inventory.ts';

/** Every other run of ours that ends meanwhile may take one for a leftover, and clear it away. */
const ATTEMPTS = 20;

/** Whether a regular file with that mode and content is there; a link to one is none. */
export async function isInPlace(path: string, file: InventoryFile): Promise<boolean> {
  return withFile(path, (handle) => isRight(handle, file)).catch(() => false);
}

/** `prefix` begins the name that it has until it is whole. */
export async function putInPlace(from: string, to: string, file: InventoryFile, prefix: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const partial = join(dirname(to), `${prefix}${randomBytes(6).toString('hex')}-${basename(to)}`);
    try {
      await write(from, partial, file);
      await rename(partial, to);
      return;
    } catch (error) {
      await rm(partial, { force: true });
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Resolves when the names in it are on the disk. */
export function syncDirectory(path: string): Promise<void> {
  return withFile(path, (handle) => handle.sync());
}

async function write(from: string, partial: string, file: InventoryFile): Promise<void> {
  await copyFile(from, partial, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE).catch(async (error) => {
    await access(from).catch(() => damaged(from, 'it is in the inventory, but not there'));
    throw error;
  });
  await withFile(partial, async (handle) => {
    await handle.chmod(file.mode);
    await handle.sync();
    if (!(await isRight(handle, file))) damaged(from, 'a copy of it is not what the inventory says');
  });
}

async function isRight(handle: FileHandle, { mode, bytes, sha256 }: InventoryFile): Promise<boolean> {
  const found = await handle.stat();
  if (!found.isFile() || (found.mode & 0o777) !== mode || found.size !== bytes) return false;
  const hash = createHash('sha256');
  const stream = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 1 << 20 });
  for await (const chunk of stream) hash.update(chunk as Buffer);
  return hash.digest('hex') === sha256;
}

/** Never waits for the other end of a pipe that somebody has put there. */
async function withFile<Result>(path: string, use: (handle: FileHandle) => Promise<Result>): Promise<Result> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

function damaged(source: string, why: string): never {
  throw new SextonError('notInstallable', { source, why });
}
