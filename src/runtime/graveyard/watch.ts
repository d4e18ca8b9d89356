/**
 * Seeing what the other members carve.
 *
 * Three sources, one handler: a scan at the start, file events, and a rescan every few seconds for what events did not
 * tell (network volumes, exhausted inotify limits, a watcher that went deaf). The handler reads files and compares
 * contents; it does not care why it was called, so it may be called at any time and any number of times.
 *
 * A file that does not parse may be half written: the last good view of it stays, and it is read again soon. A file that
 * is gone leaves its last good view behind, marked so. Neither is ever news of a death.
 */
import { isRequestFor } from '../../core/stop-request.ts';
import type { Tombstone } from '../../core/tombstone.ts';
import { FileEvents } from './file-events.ts';
import { listMembers, type Reading, readMember, type Unreadable } from './read.ts';

export interface Member {
  /** The same object as long as the file says the same. */
  readonly tombstone: Tombstone;
  readonly vanished: boolean;
}

export interface Snapshot {
  /** All other members ever seen, by name; of those that are gone and over only the last ones. */
  readonly members: readonly Member[];
  readonly ignored: readonly Unreadable[];
}

export interface WatchOptions {
  readonly dir: string;
  readonly ownName: string;
  readonly rescanMs: number;
  /** Called after the first scan, then whenever something is different. */
  readonly onSnapshot: (snapshot: Snapshot) => void;
  readonly onRescan: () => void;
  /** Stop requests to us, by file name, each time they are seen; `areAll`: there are no others. */
  readonly onRequests: (files: readonly string[], areAll: boolean) => Promise<void>;
  readonly onTrouble: (message: string, error: Error | undefined) => void;
  /** Whether the life that this tombstone tells of has ended, or was not in this boot. */
  readonly isOver: (tombstone: Tombstone) => boolean;
}

const FIRST_REREAD_MS = 20;
const MAX_REREADS = 7;
/** A directory that pods use one after the other sees ever new names. Far more than a pod has members. */
const MAX_VANISHED = 1024;

interface View extends Member {
  /** Empty when vanished: that nothing has changed is of use only for a file. */
  readonly text: string;
}

export class Watch {
  readonly #options: WatchOptions;
  readonly #views = new Map<string, View>();
  readonly #ignored = new Map<string, string>();
  readonly #rereads = new Map<string, { count: number; timer: NodeJS.Timeout | undefined }>();
  readonly #events: FileEvents;
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
    this.#events = new FileEvents({
      dir: options.dir,
      ownName: options.ownName,
      onName: (name) => this.#look(name),
      onAnything: () => void this.rescan(),
      onTrouble: options.onTrouble,
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

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (const { timer } of this.#rereads.values()) clearTimeout(timer);
    for (const resolve of this.#waiting.splice(0)) resolve();
    await this.#events.close();
  }

  #look(name: string): void {
    if (this.#isStopped) return;
    this.#dirty.add(name);
    void this.#work();
  }

  async #onTimer(): Promise<void> {
    this.#options.onRescan();
    const before = [...this.#views.values()];
    await this.rescan();
    const isSame =
      before.length === this.#views.size && before.every((view) => this.#views.get(view.tombstone.Name) === view);
    // Events told nothing of it: the watcher is deaf (or the volume is, then this costs little), so begin a new one.
    if (!this.#isStopped && (!isSame || !this.#events.isHealthy)) void this.#events.open();
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (!this.#isStopped && (this.#all || this.#dirty.size > 0)) {
      const waiting = this.#waiting.splice(0);
      const areAll = this.#all;
      const files = areAll ? await this.#list() : [...this.#dirty];
      const requests = files.filter((file) => isRequestFor(this.#options.ownName, file));
      for (const file of requests) this.#dirty.delete(file);
      if (requests.length > 0 || areAll) await this.#options.onRequests(requests, areAll);
      for (const name of files) {
        if (requests.includes(name)) continue;
        // Before the reading: an event that comes during it is news.
        this.#dirty.delete(name);
        this.#handle(name, await readMember(this.#options.dir, name));
      }
      if (!this.#isStopped) this.#tell();
      for (const resolve of waiting) resolve();
    }
    this.#isWorking = false;
  }

  /** What is to be read for a full scan: those that are there, those that were, and requests to us. */
  async #list(): Promise<readonly string[]> {
    this.#all = false;
    this.#dirty.clear();
    const { dir, ownName, onTrouble } = this.#options;
    void this.#events.check();
    try {
      const { names, hidden, ignored } = await listMembers(dir, (file) => isRequestFor(ownName, file));
      this.#isUnreadable = false;
      this.#note(names, ignored);
      const known = [...this.#views].filter(([, view]) => !view.vanished).map(([name]) => name);
      return [...hidden, ...new Set([...names, ...known])].filter((name) => name !== ownName);
    } catch (error) {
      const { message } = error as Error;
      if (!this.#isUnreadable)
        onTrouble(`cannot read the graveyard ${dir}: ${message}; it is tried again`, error as Error);
      this.#isUnreadable = true;
      return [];
    }
  }

  #note(names: readonly string[], ignored: readonly Unreadable[]): void {
    const there = new Set([...ignored.map(({ name }) => name), ...names]);
    for (const name of this.#ignored.keys()) if (!there.has(name)) this.#accept(name);
    for (const { name, why } of ignored) this.#ignore(name, why);
  }

  #handle(name: string, reading: Reading): void {
    if (this.#isStopped) return;
    const view = this.#views.get(name);
    switch (reading.kind) {
      case 'tombstone':
        this.#accept(name);
        if (view?.text !== reading.text) this.#set(name, { ...reading, vanished: false });
        return;
      case 'unparsable':
        this.#reread(name, reading.why);
        return;
      case 'ignored':
        this.#ignore(name, reading.why);
        if (view !== undefined && !view.vanished) this.#vanish(name, view);
        return;
      case 'missing':
        this.#accept(name);
        if (view === undefined || view.vanished) return;
        this.#vanish(name, view);
        // With it the whole directory may be gone.
        this.#all = true;
        return;
      default:
        reading satisfies never;
    }
  }

  /** Again after 20 ms, 40 ms and so on, then with each rescan; only then is it said to be unreadable. */
  #reread(name: string, why: string): void {
    const reread = this.#rereads.get(name) ?? { count: 0, timer: undefined };
    this.#rereads.set(name, reread);
    if (reread.count >= MAX_REREADS) this.#ignore(name, why);
    else if (reread.timer === undefined) {
      reread.timer = setTimeout(
        () => {
          reread.timer = undefined;
          this.#look(name);
        },
        FIRST_REREAD_MS * 2 ** reread.count++,
      ).unref();
    }
  }

  #ignore(name: string, why: string): void {
    if (this.#ignored.get(name) === why) return;
    this.#ignored.set(name, why);
    this.#isChanged = true;
  }

  #accept(name: string): void {
    clearTimeout(this.#rereads.get(name)?.timer);
    this.#rereads.delete(name);
    if (this.#ignored.delete(name)) this.#isChanged = true;
  }

  /** Those that went last stand last. */
  #vanish(name: string, view: View): void {
    this.#views.delete(name);
    this.#set(name, { ...view, text: '', vanished: true });
  }

  /** Only who is over: of a member that may live a file that is gone proves nothing. */
  #forget(): void {
    const over = [...this.#views].filter(([, view]) => view.vanished && this.#options.isOver(view.tombstone));
    for (const [name] of over.slice(0, Math.max(0, over.length - MAX_VANISHED))) this.#views.delete(name);
  }

  #set(name: string, view: View): void {
    this.#views.set(name, view);
    this.#isChanged = true;
  }

  #tell(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    this.#forget();
    const members = [...this.#views.values()].sort((a, b) => (a.tombstone.Name < b.tombstone.Name ? -1 : 1));
    const ignored = [...this.#ignored].map(([name, why]) => ({ name, why }));
    this.#options.onSnapshot({ members, ignored });
  }
}
