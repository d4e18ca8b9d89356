/**
 * The own tombstone on the shared volume.
 *
 * A write goes to a temporary file that is then renamed over the tombstone, so no reader sees half of it, and another
 * uid's file of that name is no obstacle. Where no new file can be had (volume full, quota, directory not ours to
 * write) the text goes in place over the old one: both have the same padded size, so it needs no space. One write runs
 * at a time; of those asked for meanwhile only the last is done. Nothing here throws: a broken graveyard must not stop
 * a healthy application, so failures are facts for the log, and `tend` tries again. All calls are asynchronous: a file
 * system that hangs holds up its promises and nothing else.
 */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, opendir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { handleOf, isMemberName, MAX_BYTES } from '../../core/format/tombstone.ts';
import { inDirectory, makeDirectory } from './directory.ts';
import { MAX_ENTRIES, readPlainFile } from './read.ts';

/** What could not be done, and the remedy. */
export interface Trouble {
  readonly message: string;
  readonly error: NodeJS.ErrnoException;
}

export class Store {
  readonly path: string;
  readonly #dir: string;
  readonly #name: string;
  readonly #onMade: ((dir: string) => void) | undefined;
  /** What the tombstone should say; `undefined`: nothing was written yet. */
  #wanted: string | undefined;
  /** What it says as far as we know. */
  #written: string | undefined;
  #running: Promise<Trouble | undefined> | undefined;
  #next: Promise<Trouble | undefined> | undefined;
  #isClosed = false;

  /** `onMade`: the directory is made where there is none, and that is told; undefined: it is not made. */
  constructor(dir: string, name: string, onMade?: (dir: string) => void) {
    this.path = join(dir, name);
    this.#dir = dir;
    this.#name = name;
    this.#onMade = onMade;
  }

  /** Creates the directory if there is none and it may be made, and removes what an earlier life left half done. */
  async prepare(): Promise<Trouble | undefined> {
    try {
      await this.#make();
      await inDirectory(this.#dir, async (here) => {
        for (const file of await this.#stale(here)) await unlink(join(here, file)).catch(() => {});
      });
      return undefined;
    } catch (error) {
      return trouble(`prepare the graveyard ${this.#dir}`, error);
    }
  }

  /**
   * Makes this text the tombstone. Resolves once it, or a later one, is written, with `undefined`; else with what stood
   * against it. Never rejects.
   */
  async write(text: string): Promise<Trouble | undefined> {
    if (this.#isClosed) return undefined;
    this.#wanted = text;
    this.#written = undefined;
    return this.#schedule();
  }

  /** Whether the tombstone says this already, as a supervisor before us has left it: then it need not be written. */
  async adopt(text: string): Promise<boolean> {
    const there = await readPlainFile(this.path, MAX_BYTES);
    // Another text was asked for meanwhile.
    if (this.#wanted !== undefined) return true;
    if (there.kind !== 'bytes' || there.bytes.toString() !== text) return false;
    this.#wanted = text;
    this.#written = text;
    return true;
  }

  /** What was asked for last is there, and nothing is on its way. */
  get isWritten(): boolean {
    return this.#running === undefined && this.#wanted !== undefined && this.#written === this.#wanted;
  }

  /** The host has made this text the tombstone. */
  accept(text: string): void {
    if (this.#running !== undefined) return void this.write(text);
    this.#wanted = text;
    this.#written = text;
  }

  /** Writes the last text again if that failed or if the file is gone since. To be called now and then. */
  async tend(): Promise<Trouble | undefined | 'idle'> {
    if (this.#isClosed || this.#wanted === undefined || this.#running !== undefined) return 'idle';
    if (this.#written === this.#wanted && (await exists(this.path))) return 'idle';
    return this.#schedule();
  }

  /** Not more than can be looked at before a start: what is left is another start's. */
  async #stale(here: string): Promise<readonly string[]> {
    const stale: string[] = [];
    let entries = 0;
    for await (const { name } of await opendir(here, { bufferSize: 256 })) {
      if (isTemporaryOf(this.#name, name)) stale.push(name);
      if (++entries === MAX_ENTRIES) break;
    }
    return stale;
  }

  /**
   * What was asked for by now is written, and nothing else is begun: the process may end, and would leave half of it
   * behind.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#running !== undefined) await (this.#next ?? this.#running);
  }

  /**
   * Removes tombstone and socket of members of another session; `isLeft` is asked of each just before. Names that are
   * not member names are left alone.
   */
  async clear(names: readonly string[], isLeft: (name: string) => Promise<boolean>): Promise<Trouble | undefined> {
    let failed: Trouble | undefined;
    for (const name of names.filter(isMemberName)) {
      if (!(await isLeft(name))) continue;
      for (const file of [name, handleOf(name)]) {
        await inDirectory(this.#dir, (here) => unlink(join(here, file))).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') failed ??= trouble(`remove ${join(this.#dir, file)} of another session`, error);
        });
      }
    }
    return failed;
  }

  /** A running write may have begun with an older text, so calls that come meanwhile share the one after it. */
  #schedule(): Promise<Trouble | undefined> {
    if (this.#running === undefined) {
      this.#running = this.#writeWanted().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.#schedule();
    });
    return this.#next;
  }

  async #writeWanted(): Promise<Trouble | undefined> {
    const text = this.#wanted;
    if (text === undefined) return undefined;
    const write = (): Promise<void> => inDirectory(this.#dir, (here) => writeTombstone(here, this.#name, text));
    try {
      await write().catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT' || this.#onMade === undefined) throw error;
        // The directory was deleted under us.
        await this.#make();
        await write();
      });
    } catch (error) {
      return trouble(`write the tombstone ${this.path}`, error);
    }
    this.#written = text;
    return undefined;
  }

  async #make(): Promise<void> {
    if (this.#onMade !== undefined && (await makeDirectory(this.#dir))) this.#onMade(this.#dir);
  }
}

async function writeTombstone(here: string, name: string, text: string): Promise<void> {
  try {
    await replace(here, name, text);
  } catch (replacing) {
    // The first error tells more: that the file cannot be opened either is only its consequence.
    await overwrite(join(here, name), Buffer.from(text), (replacing as NodeJS.ErrnoException).code).catch(() => {
      throw replacing;
    });
  }
}

/** 12 hex digits, so that two who write at once do not meet; to load crypto for them takes a tenth of a wake. */
export function randomName(): string {
  return Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, '0');
}

async function replace(here: string, name: string, text: string): Promise<void> {
  const temporary = join(here, `.${name}.${randomName()}.tmp`);
  try {
    await writeNew(temporary, text);
    await rename(temporary, join(here, name));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
}

/** A file that all may read, and that was not there before. */
export async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o644);
  try {
    // open(2) applies the umask; peers of other uids must be able to read. Where they can already, watchers are not
    // to be told of a change.
    const { mode } = await file.stat();
    if ((mode & 0o777) !== 0o644) await file.chmod(0o644);
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

/** Errors of making a new file that say nothing against writing into the one that is there. */
const ONLY_NEW_FILES: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EACCES', 'EPERM', 'EROFS']);

async function overwrite(path: string, bytes: Buffer, code: string | undefined): Promise<void> {
  if (!ONLY_NEW_FILES.has(code)) throw new Error('internal error: not to be written in place');
  // Neither follow a link nor wait for the reader of a FIFO in its place.
  const flags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags);
  try {
    const { size } = await ownedSize(file);
    // Growing on a full volume would tear it: the old state is better than half of a new one.
    const isFull = code === 'ENOSPC' || code === 'EDQUOT';
    if (isFull && size < bytes.length) throw new Error('the old tombstone is smaller than the new one');
    await writeAll(file, bytes);
    if (size > bytes.length) await file.truncate(bytes.length);
  } finally {
    await file.close();
  }
}

async function ownedSize(file: FileHandle): Promise<{ readonly size: number }> {
  const stat = await file.stat();
  if (!stat.isFile() || stat.nlink !== 1) throw new Error('not a plain file');
  return stat;
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, offset, bytes.length - offset, offset);
    offset += bytesWritten;
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    (stat) => stat.isFile(),
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

function isTemporaryOf(name: string, file: string): boolean {
  return file.startsWith(`.${name}.`) && /^[0-9a-f]{12}\.tmp$/.test(file.slice(name.length + 2));
}

const REMEDIES: Readonly<Record<string, string>> = {
  ENOENT: 'mount the shared volume there',
  ELOOP: 'name the directory itself: a link is not followed',
  ENOSPC: 'free space on the volume, or give it a larger sizeLimit',
  EDQUOT: 'raise the quota of the volume',
  EACCES: 'make the directory writable for this uid (mode 0777, or fsGroup)',
  EPERM: 'the file belongs to another uid in a sticky directory: remove it, or give each member a name of its own',
  EROFS: 'mount the volume without readOnly',
  EISDIR: 'a directory has the name of this member: remove it or choose another name',
  ENOTDIR: 'a part of the path is not a directory: mount a volume there',
};

export function trouble(what: string, thrown: unknown): Trouble {
  const error = thrown as NodeJS.ErrnoException;
  const remedy = REMEDIES[error.code ?? ''] ?? 'peers see the last state that was written until this ends';
  // Without the call and its paths: the name of a temporary file is another one each time, and what is the same is said
  // once.
  const reason = error.message.replace(/, [a-z]+ '.*$/s, '');
  return { message: `cannot ${what}: ${reason}; ${remedy}`, error };
}
