/**
 * File events of the graveyard. They are hints only: a name that may have changed, or that anything may have. When they
 * cannot be had it is said once, and the rescans of the watch do the work alone.
 *
 * They come from the host, which needs none of the 128 inotify instances that the kernel gives to a uid on the whole
 * node. Where there is no sexton-init, and on volumes that may hang, as a network's, they come from chokidar: there only
 * a thread of ours waits.
 *
 * Of chokidar only the directory itself is watched: its events tell names as well. To chokidar all files in it are ignored, or it
 * would hold one of the few watches of a uid for each of them, and look at each of them after each change.
 */
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { isRequestFor } from '../../core/format/stop-request.ts';
import { isMemberName } from '../../core/format/tombstone.ts';
import type { DirectoryNews, WatchCommand } from '../host/host.ts';
import { isLocal } from './unchanged.ts';

export interface FileEventsOptions {
  readonly dir: string;
  readonly ownName: string;
  /** A member's name, or the file of a stop request to us. */
  readonly onName: (name: string) => void;
  readonly onAnything: () => void;
  readonly onTrouble: (message: string, error: Error | undefined) => void;
  /** Has the host watch; undefined: it cannot. */
  readonly order?: ((command: WatchCommand) => void) | undefined;
}

export class FileEvents {
  readonly #options: FileEventsOptions;
  #watcher: FSWatcher | undefined;
  /** Rises with each opening and with the closing: what began under an older number is of no interest. */
  #generation = 0;
  /** The directory that the watcher was begun for; undefined: none was. */
  #place: Place | undefined;
  #hasComplained = false;
  #hasFailed = false;
  /** The host watches, or is about to. */
  #isOrdered = false;
  /** Of the last order to the host. */
  #number = 0;
  /** Who waits for the host's answer to it. */
  #onAnswer: (() => void) | undefined;

  constructor(options: FileEventsOptions) {
    this.#options = options;
  }

  get isHealthy(): boolean {
    return !this.#hasFailed;
  }

  /** Begins to watch, anew if it did before; `onAnything` is called when nothing is missed any more. Never rejects. */
  async open(): Promise<void> {
    const generation = ++this.#generation;
    this.#hasFailed = false;
    try {
      await this.#shut();
      this.#place = await placeOf(this.#options.dir);
      this.#isOrdered = this.#options.order !== undefined && (await isLocal(this.#options.dir));
      if (generation !== this.#generation) return;
      if (this.#isOrdered) return this.#order([], []);
      // A link to the graveyard is fine, links inside are not followed.
      const dir = await realpath(this.#options.dir).catch(() => resolve(this.#options.dir));
      // Loaded only here: a solo run never pays for it. Its variables are those of the application, not ours.
      for (const key of Object.keys(process.env)) if (key.startsWith('CHOKIDAR_')) delete process.env[key];
      const { watch } = await import('chokidar');
      if (generation !== this.#generation) return;
      // `atomic` would hold back a removal for 100 ms; a `depth` would make it blind to a directory that comes back.
      const watcher = watch(dir, {
        atomic: false,
        ignoreInitial: true,
        followSymlinks: false,
        ignored: (path) => path !== dir,
      });
      this.#watcher = watcher;
      // Of the directory itself.
      watcher.on('all', () => this.#options.onAnything());
      watcher.on('raw', (_event, name, details) => this.#onRaw(dir, name, details));
      watcher.on('ready', () => this.#options.onAnything());
      watcher.on('error', (error) => this.#fail(generation, error as Error));
    } catch (error) {
      this.#fail(generation, error as Error);
    }
  }

  /**
   * Begins anew if the directory is not the one that is watched: chokidar mostly notices when one goes and another
   * comes, but one in thirty that came within a millisecond it missed for good.
   */
  async check(): Promise<void> {
    const generation = this.#generation;
    const watched = this.#place;
    if (watched === undefined) return;
    const place = await placeOf(this.#options.dir);
    if (generation === this.#generation && !isSamePlace(watched, place)) await this.open();
  }

  /** Has the host watch for us while we are not there. Resolves once it does, or cannot. */
  entrust(quiet: readonly string[], sockets: readonly string[]): Promise<void> {
    this.#order(quiet, sockets);
    return new Promise((resolve) => {
      this.#onAnswer = resolve;
    });
  }

  /** From the host. */
  hear(news: DirectoryNews): void {
    const { onAnything } = this.#options;
    if (!this.#isOrdered) return;
    if (news.type === 'changed') {
      if (news.names.length === 0) onAnything();
      for (const name of news.names) this.#onName(name);
      return;
    }
    if (news.number !== this.#number) return;
    const onAnswer = this.#onAnswer ?? onAnything;
    this.#onAnswer = undefined;
    if (news.errno === undefined) return onAnswer();
    const error = new Error(news.errno);
    this.#fail(this.#generation, Object.assign(error, { code: news.errno }));
  }

  async close(): Promise<void> {
    this.#isOrdered = false;
    this.#generation++;
    this.#place = undefined;
    await this.#shut().catch(() => {});
  }

  #onRaw(dir: string, name: unknown, details: unknown): void {
    const { watchedPath } = details as { readonly watchedPath?: unknown };
    if (watchedPath === dir && typeof name === 'string') this.#onName(name);
  }

  #onName(name: string): void {
    const { ownName, onName } = this.#options;
    if (name !== ownName && (isMemberName(name) || isRequestFor(ownName, name))) onName(name);
  }

  #order(quiet: readonly string[], sockets: readonly string[]): void {
    const { dir, ownName, order } = this.#options;
    order?.({ type: 'watch', number: ++this.#number, dir, ownName, quiet, sockets });
  }

  #fail(generation: number, error: Error): void {
    if (generation !== this.#generation) return;
    this.#hasFailed = true;
    if (this.#hasComplained) return;
    this.#hasComplained = true;
    const { dir, onTrouble } = this.#options;
    const code = (error as NodeJS.ErrnoException).code ?? '';
    onTrouble(
      `cannot watch the graveyard ${dir}: ${error.message}; changes are seen late${REMEDIES[code] ?? ''}`,
      error,
    );
  }

  async #shut(): Promise<void> {
    const watcher = this.#watcher;
    this.#watcher = undefined;
    if (watcher === undefined) return;
    watcher.removeAllListeners();
    // close() may still report an error, which without a listener would be thrown.
    watcher.on('error', () => {});
    await watcher.close();
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  EMFILE: ', raise fs.inotify.max_user_instances',
  ENOSPC: ', raise fs.inotify.max_user_watches',
};

interface Place {
  readonly id: string;
  readonly born: bigint | undefined;
}

async function placeOf(dir: string): Promise<Place> {
  try {
    const { dev, ino, birthtimeNs, ctimeNs } = await stat(dir, { bigint: true });
    // Inode numbers are used again soon. Where there is no time of birth, libuv gives the change time or 0 for it.
    const born = birthtimeNs === ctimeNs || birthtimeNs === 0n ? undefined : birthtimeNs;
    return { id: `${dev}:${ino}`, born };
  } catch {
    return { id: 'none', born: undefined };
  }
}

function isSamePlace(a: Place, b: Place): boolean {
  return a.id === b.id && (a.born === undefined || b.born === undefined || a.born === b.born);
}
