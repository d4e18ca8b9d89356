/**
 * The graveyard's directory for whoever writes to it. Where it is a subdirectory of a shared volume, another container
 * can put a link in its place; a file that is then written by the path would be one of our own image's. So the
 * directory is opened as what it is, never by way of a link, and what is written goes through that descriptor, wherever
 * the path leads by then.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';

/**
 * `work` gets a path that means this directory for as long as it runs. Rejects when there is none, or a link in its
 * place.
 */
export async function inDirectory<T>(dir: string, work: (here: string) => Promise<T>): Promise<T> {
  const directory = await open(dir, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    async (error: NodeJS.ErrnoException) => {
      // open(2) says ENOTDIR of a link, or ELOOP.
      throw (await isLink(dir)) ? Object.assign(new Error(`${dir} is a symbolic link`), { code: 'ELOOP' }) : error;
    },
  );
  try {
    const here = `/proc/self/fd/${directory.fd}`;
    // Without /proc, or where a process may not look into its own, it was at least no link a moment ago.
    return await work((await isDirectory(`${here}/.`)) ? here : dir);
  } finally {
    await directory.close();
  }
}

/** One level, for all users. False: it was there. */
export async function makeDirectory(dir: string): Promise<boolean> {
  try {
    await mkdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  // Members run under different uids, so mkdir(2)'s umask must not count; sticky, so that none removes another's files.
  await inDirectory(dir, async (here) => {
    const directory = await open(`${here}/.`, constants.O_RDONLY | constants.O_DIRECTORY);
    await directory.chmod(0o1777).finally(() => directory.close());
  });
  return true;
}

export function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (stat) => stat.isSymbolicLink(),
    () => false,
  );
}

function isDirectory(path: string): Promise<boolean> {
  return lstat(path).then(
    (stat) => stat.isDirectory(),
    () => false,
  );
}
