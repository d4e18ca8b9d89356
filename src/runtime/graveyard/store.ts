/**
 * The own tombstone on the shared volume.
 *
 * A write goes to a temporary file that then replaces the tombstone. So no reader sees half of it, and another uid's
 * file of that name is no obstacle. On a full volume, or in a directory that is not ours to write, the text overwrites
 * the old one. Both have the same padded size, so that needs no space.
 *
 * One write runs at a time; of those asked for meanwhile only the last is done. Nothing here throws: a broken graveyard
 * must not stop a healthy application, so failures are facts for the log, and `tend` tries again. All calls are
 * asynchronous: a file system that hangs holds up its promises and nothing else.
 */
import { join } from 'node:path';
import { isTemporaryOf } from './directory.ts';
import { markOf } from './read.ts';
import type { VolumeAccess } from './volume.ts';

/** What could not be done, and the remedy. */
export interface Trouble {
  readonly message: string;
  readonly error: NodeJS.ErrnoException;
}

export class Store {
  readonly path: string;
  readonly #volume: VolumeAccess;
  readonly #name: string;
  readonly #onMade: ((dir: string) => void) | undefined;
  /** What the tombstone should say; `undefined`: nothing was written yet. */
  #wanted: string | undefined;
  #written: string | undefined;
  #running: Promise<Trouble | undefined> | undefined;
  #next: Promise<Trouble | undefined> | undefined;
  #isClosed = false;

  /** `onMade` is called when a missing directory was created; undefined: it is not created. */
  constructor(volume: VolumeAccess, name: string, onMade?: (dir: string) => void) {
    this.path = join(volume.dir, name);
    this.#volume = volume;
    this.#name = name;
    this.#onMade = onMade;
  }

  /** Creates the directory if it may, and removes temporary files of an earlier life. */
  async prepare(): Promise<Trouble | undefined> {
    try {
      await this.#make();
      await this.#volume.clean((file) => isTemporaryOf(this.#name, file));
      return undefined;
    } catch (error) {
      return trouble(`prepare the graveyard ${this.#volume.dir}`, error);
    }
  }

  /** Makes this text the tombstone. Resolves once it, or a later one, is written or has failed. Never rejects. */
  async write(text: string): Promise<Trouble | undefined> {
    if (this.#isClosed) return undefined;
    this.#wanted = text;
    this.#written = undefined;
    return this.#schedule();
  }

  /** Whether the previous supervisor left just this text, so that it need not be written. */
  async adopt(text: string): Promise<boolean> {
    const { kind } = await this.#volume.read(this.#name, markOf(text));
    // Another text was asked for meanwhile.
    if (this.#wanted !== undefined) return true;
    if (kind !== 'same') return false;
    this.#wanted = text;
    this.#written = text;
    return true;
  }

  /** The file has the last text, and no write is running. */
  get isWritten(): boolean {
    return this.#running === undefined && this.#wanted !== undefined && this.#written === this.#wanted;
  }

  /** Writes the last text again if that failed, or if the file is gone. To be called now and then. */
  async tend(): Promise<Trouble | undefined | 'idle'> {
    if (this.#isClosed || this.#wanted === undefined || this.#running !== undefined) return 'idle';
    const found = this.#written === this.#wanted && (await this.#volume.kindOf(this.#name));
    if (found === 'file' || found === 'unknown') return 'idle';
    return this.#schedule();
  }

  /** Finishes the requested writes and begins no other, so that the end of the process cuts no write short. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#running !== undefined) await (this.#next ?? this.#running);
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
    const text = this.#wanted ?? '';
    const write = (): Promise<void> => writeTombstone(this.#volume, this.#name, text);
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
    if (this.#onMade !== undefined && (await this.#volume.make())) this.#onMade(this.#volume.dir);
  }
}

/** Errors of creating a file that say nothing against overwriting an existing one. */
const ONLY_NEW_FILES: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EACCES', 'EPERM', 'EROFS']);

async function writeTombstone(volume: VolumeAccess, name: string, text: string): Promise<void> {
  await volume.replace(name, text).catch(async (error: NodeJS.ErrnoException) => {
    const isFull = error.code === 'ENOSPC' || error.code === 'EDQUOT';
    // The first error tells more: that the file cannot be opened either is only its consequence.
    const isWritten = ONLY_NEW_FILES.has(error.code) && (await volume.overwrite(name, text, isFull).catch(() => false));
    if (!isWritten) throw error;
  });
}

const REMEDIES: Readonly<Record<string, string>> = {
  ENOENT: 'mount the shared volume there',
  ELOOP: 'name the directory itself: a link is not followed',
  ENOSPC: 'free space on the volume, or give it a larger sizeLimit',
  EDQUOT: 'raise the quota of the volume',
  EACCES:
    'make the directory writable for this uid (mode 0777, or fsGroup); SELinux also wants the label container_file_t (:z)',
  EPERM: 'the file belongs to another uid in a sticky directory: remove it, or give each member a name of its own',
  EROFS: 'mount the volume without readOnly',
  EISDIR: 'a directory has the name of this member: remove it or choose another name',
  ENOTDIR: 'a part of the path is not a directory: mount a volume there',
};

export function trouble(what: string, thrown: unknown): Trouble {
  const error = thrown as NodeJS.ErrnoException;
  const remedy = REMEDIES[error.code ?? ''] ?? 'peers see the last state that was written until this ends';
  // Without the call and its paths, where each temporary file has another name, so that the log says it only once.
  const reason = error.message.replace(/, [a-z]+ '.*$/s, '');
  return { message: `cannot ${what}: ${reason}; ${remedy}`, error };
}
