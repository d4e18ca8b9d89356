/**
 * Finds out by which links a watched path is reached, which files count, and in which directories a change would show.
 *
 * Kubernetes' volumes are the reason for all the links: `app.conf` leads to `..data/app.conf` and `..data` to a
 * directory with the time in its name. An update makes a new directory and renames a new link over `..data`. Names that
 * begin with `..` only count where a link leads there.
 *
 * All of it is asynchronous: a volume that hangs must not keep the supervisor from its signals.
 */
import type { BigIntStats } from 'node:fs';
import { lstat, readdir, readlink, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

export interface SeenFile {
  /** From where the watched path leads: directories that links lead to have another name after each update. */
  readonly name: string;
  readonly path: string;
  readonly stats: BigIntStats;
}

/** In a directory, the names that count; `all` of them. */
export interface Place {
  /** Tells a directory from another that has taken its place. */
  readonly id: string;
  readonly names: ReadonlySet<string> | 'all';
}

export interface Survey {
  /** Without those in excess of the limit. */
  readonly files: readonly SeenFile[];
  /** All names and stats: mostly the content is the same as long as this is. undefined: nothing is there. */
  readonly signature: string | undefined;
  readonly places: ReadonlyMap<string, Place>;
  /** There were more files or directories than are looked at. */
  readonly isCut: boolean;
}

/** Rejects when it cannot find out what is there: no permission, a broken disk. */
export async function survey(path: string): Promise<Survey> {
  const names: Names = new Map();
  const real = await trace(path, names);
  const seen: SeenFile[] = [];
  const signature: string[] = [];
  const isCut = real !== undefined && !(await collect('', MAX_DEPTH, { root: real, seen, signature, names }));
  const places = new Map<string, Place>();
  for (const [dir, of] of names) {
    const stats = await orAbsent(stat(dir, { bigint: true }));
    if (stats !== undefined) places.set(dir, { id: `${stats.dev}:${stats.ino}`, names: of });
  }
  return { files: seen, signature: signature.length === 0 ? undefined : signature.join('\n'), places, isCut };
}

const MAX_LINKS = 40;
const MAX_DEPTH = 8;
const MAX_FILES = 1_000;
const MAX_DIRECTORIES = 64;

type Names = Map<string, Set<string> | 'all'>;

/**
 * Follows the path link by link; each link, the end, and what is missing may change. undefined: it leads nowhere now.
 */
async function trace(path: string, names: Names): Promise<string | undefined> {
  const pending = partsOf(resolve(path));
  let at = '/';
  let links = 0;
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    if (name === '..') at = dirname(at);
    if (name === '..' || name === '.') continue;
    const next = join(at, name);
    const stats = await orAbsent(lstat(next));
    const isLink = stats?.isSymbolicLink() === true;
    if (stats === undefined || isLink || pending.length === 0) note(names, at, name);
    if (stats === undefined) return undefined;
    if (!isLink) {
      at = next;
      continue;
    }
    links += 1;
    const target = await orAbsent(readlink(next));
    if (target === undefined || links > MAX_LINKS) return undefined;
    pending.unshift(...partsOf(target));
    if (target.startsWith('/')) at = '/';
  }
  return at;
}

interface Collection {
  readonly root: string;
  readonly seen: SeenFile[];
  readonly signature: string[];
  readonly names: Names;
}

/**
 * Resolves with false when a limit cut it. A directory counts with all below; a pipe or a device is only noted. What
 * may not be looked at below the path, as `lost+found`, is left out: the watch reports it.
 */
async function collect(name: string, depth: number, into: Collection): Promise<boolean> {
  const { root, seen, signature, names } = into;
  const path = join(root, name);
  const absent = name === '' ? ABSENT : [...ABSENT, 'EACCES', 'EPERM'];
  const stats = await orAbsent(stat(path, { bigint: true }), absent);
  if (stats === undefined) return true;
  if (!stats.isDirectory()) {
    if (signature.length >= MAX_FILES) return false;
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    signature.push(`${path}:${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`);
    if (stats.isFile()) seen.push({ name, path, stats });
    return true;
  }
  if (depth === 0 || names.size >= MAX_DIRECTORIES) return false;
  names.set(path, 'all');
  // An empty directory is there, too.
  signature.push(`${path}/`);
  const entries = (await orAbsent(readdir(path), absent)) ?? [];
  let isWhole = true;
  for (const entry of entries.sort())
    if (!entry.startsWith('..') && !(await collect(join(name, entry), depth - 1, into))) isWhole = false;
  return isWhole;
}

function note(names: Names, dir: string, name: string): void {
  const known = names.get(dir);
  if (known === undefined) names.set(dir, new Set([name]));
  else if (known !== 'all') known.add(name);
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}

async function orAbsent<T>(work: Promise<T>, absent: readonly string[] = ABSENT): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (absent.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Also a link that leads to itself, and one that was replaced by a file while it was read. */
const ABSENT: readonly string[] = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL'];
