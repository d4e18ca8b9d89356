/**
 * File events of the graveyard. They are hints only: this name may have changed, or anything may have. Where there are
 * none, that is logged once, and the rescans do the work alone.
 *
 * The host watches the directory, because it needs none of the 128 inotify instances that the kernel gives to a uid on
 * the whole node. Without sexton-init, and on volumes that may hang, chokidar watches: there only a thread of ours waits.
 */
import { isRequestFor } from '../../core/format/stop-request.ts';
import { isMemberName } from '../../core/format/tombstone.ts';
import type { DirectoryNews, WatchCommand } from '../host/host.ts';
import type { ReaderOptions } from './volume.ts';

export interface FileEventsOptions extends ReaderOptions {
  /** A member's name, or the file of a stop request for us. */
  readonly onName: (name: string) => void;
  readonly onAnything: () => void;
  /** Has the host watch; undefined: it cannot. */
  readonly order: ((command: WatchCommand) => void) | undefined;
}

export class FileEvents {
  readonly #options: FileEventsOptions;
  #endWatch: (() => unknown) | undefined;
  /** Grows with each opening and with the closing, so that what an older opening began has no effect. */
  #opening = 0;
  /** The directory that is watched; undefined: none. */
  #watched: string | undefined;
  #hasFailed = false;
  #hasComplained = false;
  #isByHost = false;
  /** The last command to the host. A later opening repeats its list, because we may sleep by then. */
  #order: Pick<WatchCommand, 'number' | 'quiet'> = { number: 0, quiet: [] };
  #onAnswer: (() => void) | undefined;

  constructor(options: FileEventsOptions) {
    this.#options = options;
  }

  get isHealthy(): boolean {
    return !this.#hasFailed;
  }

  /** Begins to watch, or watches again. `onAnything` follows once nothing is missed any more. Never rejects. */
  async open(): Promise<void> {
    const { volume, onAnything, order } = this.#options;
    const opening = ++this.#opening;
    const onError = (error: Error): void => this.#fail(opening, error);
    this.#hasFailed = false;
    try {
      await this.#shut();
      this.#watched = await volume.identity();
      this.#isByHost = order !== undefined && (await volume.isLocal());
      if (opening !== this.#opening) return;
      if (this.#isByHost) return this.#orderWatch(this.#order.quiet);
      const end = await volume.watch((name) => this.#onName(name), onAnything, onError);
      if (opening !== this.#opening) return void (await end());
      this.#endWatch = end;
    } catch (error) {
      onError(error as Error);
    }
  }

  /** Opens again if another directory has taken the place of the one that is watched: chokidar may miss that. */
  async check(): Promise<void> {
    const [opening, watched] = [this.#opening, this.#watched];
    if (watched === undefined) return;
    const isSame = (await this.#options.volume.identity()) === watched;
    if (opening === this.#opening && !isSame) await this.open();
  }

  /** Has the host watch for us while we sleep. Resolves once it does, or cannot. */
  handOver(quiet: readonly string[]): Promise<void> {
    this.#orderWatch(quiet);
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

  #orderWatch(quiet: readonly string[]): void {
    const { volume, ownName, order } = this.#options;
    this.#order = { number: this.#order.number + 1, quiet };
    order?.({ type: 'watch', dir: volume.dir, ownName, ...this.#order });
  }

  #fail(opening: number, error: NodeJS.ErrnoException): void {
    if (opening !== this.#opening) return;
    this.#hasFailed = true;
    if (this.#hasComplained) return;
    this.#hasComplained = true;
    const { volume, onTrouble } = this.#options;
    const remedy = REMEDIES[error.code ?? ''] ?? '';
    onTrouble(`cannot watch the graveyard ${volume.dir}: ${error.message}; changes are seen late${remedy}`, error);
  }

  async #shut(): Promise<void> {
    const end = this.#endWatch;
    this.#endWatch = undefined;
    await end?.();
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  EMFILE: ', raise fs.inotify.max_user_instances',
  ENOSPC: ', raise fs.inotify.max_user_watches',
};
