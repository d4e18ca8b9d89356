/**
 * Sees what the other members write.
 *
 * Three sources, one handler: a scan at the start, file events, and a rescan every few seconds for what events did not
 * tell (network volumes, exhausted inotify limits, a watcher that went deaf). The handler reads files and compares
 * contents; it does not care why it was called, so it may be called at any time and any number of times.
 *
 * A file that does not parse may be half written: the last good view of it stays, and it is read again soon. A file
 * that is gone leaves its last good view behind, marked so. Neither is ever news of a death.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRequestFor } from '../../core/format/stop-request.ts';
import type { Tombstone } from '../../core/format/tombstone.ts';
import type { DirectoryNews, WatchCommand } from '../host/host.ts';
import { FileEvents } from './file-events.ts';
import { Pace } from './pace.ts';
import { listMembers, MAX_MEMBERS, type Reading, readMember, type Unreadable } from './read.ts';
import { Rereads } from './rereads.ts';
import { Unchanged } from './unchanged.ts';
import { type Snapshot, Views } from './views.ts';

export interface WatchOptions {
  readonly dir: string;
  readonly ownName: string;
  /** Those that the configuration names: they are looked for one by one, however many others there are. */
  readonly named: ReadonlySet<string>;
  readonly rescanMs: number;
  /** Called after the first scan, then whenever something is different. */
  readonly onSnapshot: (snapshot: Snapshot) => void;
  readonly onRescan: () => void;
  /** Stop requests to us, by file name, each time they are seen. */
  readonly onRequests: (files: readonly string[]) => Promise<void>;
  /** A request that is done with, though its file may still be there. */
  readonly isDone: (file: string) => boolean;
  readonly onTrouble: (message: string, error: Error | undefined) => void;
  /** Whether the life that this tombstone tells of has ended, or was not in this boot. */
  readonly isOver: (tombstone: Tombstone) => boolean;
  readonly isHeld: (name: string) => boolean;
  /** Nothing depends on this one now: what it says next is left to a rescan. */
  readonly isFar: (tombstone: Tombstone) => boolean;
  /** Has the host watch the directory; undefined: it cannot. */
  readonly order?: ((command: WatchCommand) => void) | undefined;
}

/** So late an event may come on a machine with little CPU. */
const MAX_LATE_MS = 500;
/** Of the clock from which files have their times. */
const MAX_TICK_MS = 20;

export class Watch {
  readonly #options: WatchOptions;
  readonly #views: Views;
  /** Why files are not read, by name. */
  readonly #ignored = new Map<string, string>();
  readonly #rereads = new Rereads((name) => this.#look(name));
  readonly #events: FileEvents;
  readonly #unchanged: Unchanged;
  readonly #pace = new Pace();
  /** What a scan found changed and no event has told of so far. */
  readonly #unheard = new Set<string>();
  /** Names to be read; `all` also lists the directory. */
  #dirty = new Set<string>();
  #all = false;
  #waiting: (() => void)[] = [];
  #isWorking = false;
  #isStopped = false;
  #isChanged = true;
  #isUnreadable = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#views = new Views(options);
    this.#unchanged = new Unchanged(options.dir);
    this.#events = new FileEvents({
      dir: options.dir,
      ownName: options.ownName,
      onName: (name) => this.#hear(name),
      onAnything: () => this.#hearOfAll(),
      onTrouble: options.onTrouble,
      order: options.order,
    });
  }

  /** Resolves after the first scan; does not wait for the file events, which begin with a scan of their own. */
  async start(): Promise<void> {
    await this.rescan();
    if (this.#isStopped) return;
    void this.#events.open();
    this.#timer = setInterval(() => void this.#onTimer(), this.#options.rescanMs).unref();
  }

  /** Resolves after a scan that began after this call; at once when the watch is stopped. */
  rescan(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#all = true;
    const scanned = new Promise<void>((resolve) => this.#waiting.push(resolve));
    void this.#work();
    return scanned;
  }

  /** From the host. */
  hear(news: DirectoryNews): void {
    if (!this.#isStopped) this.#events.hear(news);
  }

  /** Resolves once the host watches for us, and all that was changed before was read. */
  async entrust(quiet: readonly string[], sockets: readonly string[]): Promise<void> {
    await this.#events.entrust(quiet, sockets);
    // A change in the same tick of the clock as one before may look the same to the host. A scan reads what is so young.
    await sleep(MAX_TICK_MS);
    await this.rescan();
  }

  /** What has changed so far was read, and what changes is told. */
  get isCalm(): boolean {
    return !this.#isWorking && !this.#isUnreadable && !this.#rereads.isWaiting && this.#events.isHealthy;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#rereads.stop();
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.#pace.stop();
    await this.#events.close();
  }

  #hearOfAll(): void {
    this.#unheard.clear();
    void this.rescan();
  }

  #hear(name: string): void {
    this.#unheard.delete(name);
    if (!this.#views.isFar(name)) this.#look(name);
  }

  #look(name: string): void {
    if (this.#isStopped) return;
    if (this.#dirty.size < MAX_MEMBERS) this.#dirty.add(name);
    else this.#all = true;
    void this.#work();
  }

  async #onTimer(): Promise<void> {
    this.#options.onRescan();
    this.#unheard.clear();
    await this.rescan();
    if (this.#unheard.size > 0) await sleep(MAX_LATE_MS, undefined, { ref: false });
    // Events told nothing of it: the watcher is deaf (or the volume is, then this costs little), so begin a new one.
    const isDeaf = this.#unheard.size > 0 || !this.#events.isHealthy;
    if (isDeaf && !this.#isStopped) void this.#events.open();
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (!this.#isStopped && (this.#all || this.#dirty.size > 0)) {
      // All that wait for a scan have it at once.
      if (this.#waiting.length === 0) await this.#pace.next(1 + this.#views.size / 16);
      const waiting = this.#waiting.splice(0);
      const isScan = this.#all;
      const heard = new Set(this.#dirty);
      const files = isScan ? await this.#list() : [...heard];
      const requests = files.filter((file) => isRequestFor(this.#options.ownName, file));
      for (const file of requests) this.#dirty.delete(file);
      if (requests.length > 0) await this.#options.onRequests(requests);
      for (const name of files) {
        if (requests.includes(name)) continue;
        const known = this.#views.markOf(name);
        if (isScan && known && (await this.#unchanged.compare(name))) continue;
        // Before the reading: an event that comes during it is news.
        if (this.#dirty.delete(name)) heard.add(name);
        this.#handle(name, await readMember(this.#options.dir, name, known));
        const isHeard = heard.has(name) || this.#dirty.has(name) || this.#views.isFar(name);
        if (!isHeard && this.#views.markOf(name) !== known) this.#unheard.add(name);
      }
      if (!this.#isStopped) this.#tell();
      for (const resolve of waiting) resolve();
    }
    this.#isWorking = false;
  }

  /**
   * What is to be read for a full scan: those that are there, those that were, those that are named, and requests to
   * us.
   */
  async #list(): Promise<readonly string[]> {
    this.#all = false;
    this.#dirty.clear();
    const { dir, ownName, named, onTrouble, isDone } = this.#options;
    // One after the other: on a file system that hangs each would take a thread of the few that all of this process
    // share.
    await this.#events.check();
    await this.#unchanged.begin();
    try {
      const isNews = (file: string): boolean => isRequestFor(ownName, file) && !isDone(file);
      const { names, hidden, ignored } = await listMembers(dir, isNews);
      this.#isUnreadable = false;
      this.#note(names, ignored);
      const known = this.#views.all().flatMap(({ vanished, tombstone }) => (vanished ? [] : [tombstone.Name]));
      return [...hidden, ...new Set([...named, ...known, ...names])].filter((name) => name !== ownName);
    } catch (error) {
      const what = `cannot read the graveyard ${dir}: ${(error as Error).message}; it is tried again`;
      if (!this.#isUnreadable) onTrouble(what, error as Error);
      this.#isUnreadable = true;
      return [];
    }
  }

  #note(names: readonly string[], ignored: readonly Unreadable[]): void {
    const there = new Set([...ignored.map(({ name }) => name), ...names]);
    for (const name of this.#ignored.keys()) if (!there.has(name)) this.#accept(name);
    for (const it of ignored) this.#ignore(it);
  }

  #handle(name: string, reading: Reading): void {
    if (this.#isStopped) return;
    if (reading.kind !== 'tombstone' && reading.kind !== 'same') this.#unchanged.forget(name);
    switch (reading.kind) {
      case 'tombstone':
        this.#accept(name);
        if (this.#views.see(name, reading.tombstone, reading.mark)) this.#isChanged = true;
        return;
      case 'same':
        return this.#accept(name);
      case 'unparsable':
        if (this.#rereads.again(name)) this.#ignore({ name, why: reading.why });
        return;
      case 'ignored':
        this.#ignore({ name, why: reading.why });
        this.#vanish(name);
        return;
      case 'missing':
        this.#accept(name);
        // With it the whole directory may be gone.
        if (this.#vanish(name)) this.#all = true;
        return;
      default:
        reading satisfies never;
    }
  }

  #ignore({ name, why }: Unreadable): void {
    if (this.#ignored.get(name) === why) return;
    this.#ignored.set(name, why);
    this.#isChanged = true;
  }

  #accept(name: string): void {
    this.#rereads.forget(name);
    if (this.#ignored.delete(name)) this.#isChanged = true;
  }

  #vanish(name: string): boolean {
    const wasThere = this.#views.lose(name);
    if (wasThere) this.#isChanged = true;
    return wasThere;
  }

  #tell(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    this.#views.forget();
    const members = [...this.#views.all()].sort((a, b) => (a.tombstone.Name < b.tombstone.Name ? -1 : 1));
    this.#options.onSnapshot({ members, ignored: [...this.#ignored].map(([name, why]) => ({ name, why })) });
  }
}
