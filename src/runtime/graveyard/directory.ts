/**
 * The graveyard's directory for writing. In a subdirectory of a shared volume, another container can put a link in its
 * place, which makes the path lead into our own image. So we open the directory itself, never a link, and write through
 * that descriptor, wherever the path leads by then.
 */
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** `work` gets a path that means this directory while it runs. Rejects where there is none, or a link in its place. */
export async function inDirectory<T>(dir: string, work: (here: string) => Promise<T>): Promise<T> {
  const directory = await open(dir, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    async (error: NodeJS.ErrnoException) => {
      // open(2) fails with ENOTDIR for a link, or with ELOOP.
      throw (await look(dir))?.isSymbolicLink()
        ? Object.assign(new Error(`${dir} is a symbolic link`), { code: 'ELOOP' })
        : error;
    },
  );
  try {
    const here = `/proc/self/fd/${directory.fd}`;
    // Without /proc, or where a process may not read its own, the path was no link a moment ago at least.
    const isReadable = (await look(`${here}/.`))?.isDirectory();
    return await work(isReadable ? here : dir);
  } finally {
    await directory.close();
  }
}

/** Creates one level, for all users. False: it was there. */
export async function makeDirectory(dir: string): Promise<boolean> {
  const error = await mkdir(dir).catch((thrown: NodeJS.ErrnoException) => thrown);
  if (error !== undefined && error.code !== 'EEXIST') throw error;
  if (error !== undefined) return false;
  // Members run under different uids, so the umask must not count; sticky, so that none removes another's files.
  await inDirectory(dir, async (here) => {
    const directory = await open(`${here}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
    await directory.chmod(0o1777).finally(() => directory.close());
  });
  return true;
}

/** undefined: it cannot be looked at, or is not there. */
export function look(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

/** Creates or replaces a file that every user may read: whole or not at all. */
export async function replaceFile(here: string, file: string, text: string): Promise<void> {
  const temporary = join(here, `.${file}.${randomName()}.tmp`);
  try {
    await writeNew(temporary, text);
    await rename(temporary, join(here, file));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

/** False: it was not possible, and the file is as it was. */
export async function overwriteFile(path: string, text: string, isFull: boolean): Promise<boolean> {
  // Neither follow a link nor wait for the reader of a FIFO in its place.
  const flags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return false;
  try {
    const stat = await file.stat();
    const bytes = Buffer.byteLength(text);
    // A file that has to grow on a full volume would be torn: the old state is better than half of a new one.
    if (!stat.isFile() || stat.nlink !== 1 || (isFull && stat.size < bytes)) return false;
    await file.writeFile(text);
    if (stat.size > bytes) await file.truncate(bytes);
    return true;
  } catch {
    return false;
  } finally {
    await file.close();
  }
}

/** 12 hex digits, so that two writers at once do not meet. To load crypto for them would take a tenth of a wake. */
export function randomName(): string {
  return Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0');
}

export function isTemporaryOf(name: string, file: string): boolean {
  return file.startsWith(`.${name}.`) && /^[0-9a-f]{12}\.tmp$/.test(file.slice(name.length + 2));
}

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o644);
  try {
    // open(2) applies the umask. A needless chmod would be one more event for those who watch.
    const { mode } = await file.stat();
    if ((mode & 0o777) !== 0o644) await file.chmod(0o644);
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}
