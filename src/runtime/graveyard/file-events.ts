/**
 * File events of the graveyard. They are hints only: this name may have changed, or anything may have. Where there are
 * none, that is logged once, and the rescans do the work alone.
 *
 * The host watches the directory, because it needs none of the 128 inotify instances that the kernel gives to a uid on
 * the whole node. Without sexton-init, and on volumes that may hang, chokidar watches: there only a thread of ours waits.
 *
 * chokidar watches the directory alone, whose events name the files as well. It ignores the files, or it would take one
 * of the few watches of a uid for each and stat each after each change.
 */
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { isRequestFor } from '../../core/format/stop-request.ts';
import { isMemberName } from '../../core/format/tombstone.ts';
import type { DirectoryNews, WatchCommand } from '../host/host.ts';
import { isLocal } from '../local-volume.ts';

export interface FileEventsOptions {
  readonly dir: string;
  readonly ownName: string;
  /** A member's name, or the file of a stop request for us. */
  readonly onName: (name: string) => void;
  readonly onAnything: () => void;
  readonly onTrouble: (message: string, error: Error | undefined) => void;
  /** Has the host watch; undefined: it cannot. */
  readonly order: ((command: WatchCommand) => void) | undefined;
}

export class FileEvents {
  readonly #options: FileEventsOptions;
  #watcher: FSWatcher | undefined;
  /** Grows with each opening and with the closing, so that what an older opening began has no effect. */
  #opening = 0;
  /** The directory that is watched; undefined: none. */
  #watched: string | undefined;
  #hasFailed = false;
  #hasComplained = false;
  #isByHost = false;
  /** The last command to the host. A later opening repeats its lists, because we may sleep by then. */
  #order: Pick<WatchCommand, 'number' | 'quiet' | 'sockets'> = { number: 0, quiet: [], sockets: [] };
  #onAnswer: (() => void) | undefined;

  constructor(options: FileEventsOptions) {
    this.#options = options;
  }

  get isHealthy(): boolean {
    return !this.#hasFailed;
  }

  /** Begins to watch, or watches again. `onAnything` follows once nothing is missed any more. Never rejects. */
  async open(): Promise<void> {
    const { dir, onAnything, order } = this.#options;
    const opening = ++this.#opening;
    this.#hasFailed = false;
    try {
      await this.#shut();
      this.#watched = await identityOf(dir);
      this.#isByHost = order !== undefined && (await isLocal(dir));
      if (opening !== this.#opening) return;
      if (this.#isByHost) return this.#orderWatch(this.#order.quiet, this.#order.sockets);
      // A link to the graveyard is fine, links inside are not followed.
      const realDir = await realpath(dir).catch(() => resolve(dir));
      // These variables are those of the application, not ours.
      for (const key of Object.keys(process.env)) if (key.startsWith('CHOKIDAR_')) delete process.env[key];
      // Loaded only here, so that a run without a graveyard never pays for it.
      const { watch } = await import('chokidar');
      if (opening !== this.#opening) return;
      // `atomic` would hold back a removal for 100 ms; a `depth` would make it blind to a directory that comes back.
      const ignored = (path: string): boolean => path !== realDir;
      const watcher = watch(realDir, { atomic: false, ignoreInitial: true, followSymlinks: false, ignored });
      this.#watcher = watcher;
      // These two concern the directory itself.
      watcher.on('all', onAnything);
      watcher.on('ready', onAnything);
      watcher.on('raw', (_event, name: unknown, details: unknown) => {
        const { watchedPath } = details as { readonly watchedPath?: unknown };
        if (watchedPath === realDir && typeof name === 'string') this.#onName(name);
      });
      watcher.on('error', (error) => this.#fail(opening, error as Error));
    } catch (error) {
      this.#fail(opening, error as Error);
    }
  }

  /** Opens again if another directory has taken the place of the one that is watched: chokidar may miss that. */
  async check(): Promise<void> {
    const [opening, watched] = [this.#opening, this.#watched];
    if (watched === undefined) return;
    const isSame = (await identityOf(this.#options.dir)) === watched;
    if (opening === this.#opening && !isSame) await this.open();
  }

  /** Has the host watch for us while we sleep. Resolves once it does, or cannot. */
  handOver(quiet: readonly string[], sockets: readonly string[]): Promise<void> {
    this.#orderWatch(quiet, sockets);
    return new Promise((answered) => {
      this.#onAnswer = answered;
    });
  }

  hear(news: DirectoryNews): void {
    const { onAnything } = this.#options;
    if (!this.#isByHost) return;
    if (news.type === 'changed') {
      if (news.names.length === 0) onAnything();
      for (const name of news.names) this.#onName(name);
      return;
    }
    if (news.number !== this.#order.number) return;
    const { errno } = news;
    if (errno !== undefined) this.#fail(this.#opening, Object.assign(new Error(errno), { code: errno }));
    const onAnswer = this.#onAnswer ?? onAnything;
    this.#onAnswer = undefined;
    onAnswer();
  }

  async close(): Promise<void> {
    this.#isByHost = false;
    this.#opening++;
    this.#watched = undefined;
    await this.#shut().catch(() => {});
  }

  #onName(name: string): void {
    const { ownName, onName } = this.#options;
    if (name !== ownName && (isMemberName(name) || isRequestFor(ownName, name))) onName(name);
  }

  #orderWatch(quiet: readonly string[], sockets: readonly string[]): void {
    const { dir, ownName, order } = this.#options;
    this.#order = { number: this.#order.number + 1, quiet, sockets };
    order?.({ type: 'watch', dir, ownName, ...this.#order });
  }

  #fail(opening: number, error: NodeJS.ErrnoException): void {
    if (opening !== this.#opening) return;
    this.#hasFailed = true;
    if (this.#hasComplained) return;
    this.#hasComplained = true;
    const { dir, onTrouble } = this.#options;
    const remedy = REMEDIES[error.code ?? ''] ?? '';
    onTrouble(`cannot watch the graveyard ${dir}: ${error.message}; changes are seen late${remedy}`, error);
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

function identityOf(dir: string): Promise<string> {
  return stat(dir).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => 'none',
  );
}
