/**
 * Reads what the other members write: all files at the start, one file when an event names it, and all files again
 * every few seconds, because events can be missing (network volumes, exhausted inotify limits).
 *
 * A file that does not parse may be half written: the last good tombstone stays, and the file is read again soon. A
 * file that is gone leaves its last good tombstone behind, marked as vanished. Neither is ever news of a death.
 *
 * Any container that mounts the graveyard can create any number of tombstones. The scan keeps 128 present members and
 * 128 vanished ones; beyond that only those that the configuration names and those that hold their socket.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRequestFor } from '../../core/format/stop-request.ts';
import type { Tombstone } from '../../core/format/tombstone.ts';
import type { DirectoryNews, WatchCommand } from '../host/host.ts';
import { FileEvents } from './file-events.ts';
import { listMembers, MAX_MEMBERS, type Reading, readMember } from './read.ts';

/** What was last read of a member. */
export interface Member {
  /** Without its history, which no other member needs. The same object as long as the file says the same. */
  readonly tombstone: Tombstone;
  readonly vanished: boolean;
  /** Identifies the content of the file; empty once it has vanished, because a new file is always news. */
  readonly mark: string;
}

export interface ScanOptions {
  readonly dir: string;
  readonly ownName: string;
  /** Members that the configuration names: they are read however many others there are. */
  readonly named: ReadonlySet<string>;
  readonly rescanMs: number;
  /** All other members by name: after the first scan, then after each change. */
  readonly onMembers: (members: readonly Member[]) => void;
  readonly onRescan: () => void;
  /** A stop request for this member, each time its file is seen. */
  readonly onRequest: (file: string) => Promise<void>;
  /** What lies in the graveyard and is no tombstone, each time it is seen. */
  readonly onIgnored: (name: string, why: string) => void;
  readonly onTrouble: (message: string, error: Error | undefined) => void;
  readonly isHeld: (name: string) => boolean;
  /** Has the host watch the directory; undefined: it cannot. */
  readonly order?: ((command: WatchCommand) => void) | undefined;
}

/** The kernel's clock, from which files have their times, ticks at least this often. */
const MAX_TICK_MS = 20;
/** A file that does not parse is read again after 20 ms, 40 ms and so on; after that only events and rescans read it. */
const FIRST_REREAD_MS = 20;
const MAX_REREADS = 7;
/** One round of reading may follow another at once until this much is used up. */
const BURST_MS = 3_200;
/** What a round uses up, and what a full scan adds for 16 members. The allowance grows with the clock. */
const ROUND_MS = 50;
const MEMBERS_A_ROUND = 16;

interface Reread {
  count: number;
  timer: NodeJS.Timeout | undefined;
}

export class Scan {
  readonly #options: ScanOptions;
  readonly #events: FileEvents;
  readonly #members = new Map<string, Member>();
  readonly #rereads = new Map<string, Reread>();
  /** Files to read; `#isAllDue` also lists the directory. */
  readonly #due = new Set<string>();
  #isAllDue = false;
  #waiting: (() => void)[] = [];
  #changes = 1;
  #changesTold = 0;
  #usedUntilMs = Number.NEGATIVE_INFINITY;
  #isWorking = false;
  #isStopped = false;
  #isUnreadable = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ScanOptions) {
    this.#options = options;
    const { dir, ownName, onTrouble, order } = options;
    const [onName, onAnything] = [(name: string) => this.#readSoon(name), () => void this.rescan()];
    this.#events = new FileEvents({ dir, ownName, onName, onAnything, onTrouble, order });
  }

  /** Resolves after the first scan. It does not wait for the file events, which begin with a scan of their own. */
  async start(): Promise<void> {
    await this.rescan();
    if (this.#isStopped) return;
    void this.#events.open();
    this.#timer = setInterval(() => void this.#onTimer(), this.#options.rescanMs).unref();
  }

  /** Resolves after a scan that began after this call; at once when the scan is stopped. */
  rescan(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#isAllDue = true;
    const scanned = new Promise<void>((resolve) => this.#waiting.push(resolve));
    void this.#work();
    return scanned;
  }

  /** From the host. */
  hear(news: DirectoryNews): void {
    if (!this.#isStopped) this.#events.hear(news);
  }

  /** Resolves once the host watches for us, and everything that changed before is read. */
  async handOver(quiet: readonly string[], sockets: readonly string[]): Promise<void> {
    await this.#events.handOver(quiet, sockets);
    // Two changes within one tick of the clock may look the same to the host.
    await sleep(MAX_TICK_MS);
    await this.rescan();
  }

  /** Everything that has changed so far is read, and further changes will be reported. */
  get isIdle(): boolean {
    const isRereading = [...this.#rereads.values()].some(({ timer }) => timer !== undefined);
    return !this.#isWorking && !this.#isUnreadable && !isRereading && this.#events.isHealthy;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (const { timer } of this.#rereads.values()) clearTimeout(timer);
    for (const resolve of this.#waiting.splice(0)) resolve();
    await this.#events.close();
  }

  /** What only the timer finds shows that the watcher may be deaf, so a new one is opened. */
  async #onTimer(): Promise<void> {
    this.#options.onRescan();
    const before = this.#changes;
    await this.rescan();
    const mayBeDeaf = this.#changes !== before || !this.#events.isHealthy;
    if (mayBeDeaf && !this.#isStopped) void this.#events.open();
  }

  #readSoon(file: string): void {
    if (this.#isStopped) return;
    if (this.#due.size < MAX_MEMBERS) this.#due.add(file);
    else this.#isAllDue = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    while (!this.#isStopped && (this.#isAllDue || this.#due.size > 0)) {
      // A caller that waits for a scan gets it at once.
      if (this.#waiting.length === 0) await this.#slowDown();
      const waiting = this.#waiting.splice(0);
      for (const file of this.#isAllDue ? await this.#list() : [...this.#due]) await this.#read(file);
      if (!this.#isStopped) this.#tell();
      for (const resolve of waiting) resolve();
    }
    this.#isWorking = false;
  }

  /** A neighbour that changes files without end must not take all of our CPU. */
  async #slowDown(): Promise<void> {
    const now = performance.now();
    const roundMs = ROUND_MS * (1 + this.#members.size / MEMBERS_A_ROUND);
    this.#usedUntilMs = Math.max(this.#usedUntilMs, now - BURST_MS) + roundMs;
    if (this.#usedUntilMs > now) await sleep(this.#usedUntilMs - now, undefined, { ref: false });
  }

  /** The files of a full scan: requests for us, then the named members, those that were present, and those listed. */
  async #list(): Promise<readonly string[]> {
    this.#isAllDue = false;
    this.#due.clear();
    const { dir, ownName, named, onIgnored, onTrouble } = this.#options;
    // One call after the other: each one that hangs holds one of the few threads that this process has for files.
    await this.#events.check();
    try {
      const { names, hidden, ignored } = await listMembers(dir, (file) => isRequestFor(ownName, file));
      this.#isUnreadable = false;
      for (const { name, why } of ignored) onIgnored(name, why);
      return [...hidden, ...new Set([...named, ...this.#namesPresent(), ...names])].filter((name) => name !== ownName);
    } catch (error) {
      const what = `cannot read the graveyard ${dir}: ${(error as Error).message}; it is tried again`;
      if (!this.#isUnreadable) onTrouble(what, error as Error);
      this.#isUnreadable = true;
      return [];
    }
  }

  async #read(file: string): Promise<void> {
    const { dir, ownName, onRequest, onIgnored } = this.#options;
    // Before the reading, because an event that comes during it is news.
    this.#due.delete(file);
    if (this.#isStopped) return;
    if (isRequestFor(ownName, file)) return onRequest(file);
    const reading = await readMember(dir, file, this.#members.get(file)?.mark);
    if (this.#isStopped) return;
    if (reading.kind === 'unparsable') return this.#readAgain(file, reading.why);
    clearTimeout(this.#rereads.get(file)?.timer);
    this.#rereads.delete(file);
    if (reading.kind === 'tombstone') this.#keep(file, reading);
    if (reading.kind === 'ignored') onIgnored(file, reading.why);
    const isGone = reading.kind === 'ignored' || reading.kind === 'missing';
    // The whole directory may be gone with it.
    if (isGone && this.#lose(file)) this.#isAllDue = true;
  }

  /** The file may be half written. */
  #readAgain(file: string, why: string): void {
    const reread = this.#rereads.get(file) ?? { count: 0, timer: undefined };
    if (reread.timer !== undefined || (reread.count === 0 && this.#rereads.size >= MAX_MEMBERS)) return;
    if (reread.count === MAX_REREADS) return this.#options.onIgnored(file, why);
    this.#rereads.set(file, reread);
    const onTime = (): void => {
      reread.timer = undefined;
      this.#readSoon(file);
    };
    reread.timer = setTimeout(onTime, FIRST_REREAD_MS * 2 ** reread.count++).unref();
  }

  #keep(name: string, { tombstone, mark }: Extract<Reading, { kind: 'tombstone' }>): void {
    const isPresent = this.#members.get(name)?.vanished === false;
    const isFull = this.#namesPresent().length >= MAX_MEMBERS;
    if (!isPresent && isFull && !this.#options.named.has(name)) return;
    const { History, ...rest } = tombstone;
    // A copy, because a string that was cut out of a text keeps the whole text in memory.
    this.#members.set(name, { tombstone: structuredClone(rest), vanished: false, mark });
    this.#changes++;
  }

  /** Returns whether it was present. Members that vanished last stand last. */
  #lose(name: string): boolean {
    const member = this.#members.get(name);
    if (member?.vanished !== false) return false;
    this.#members.delete(name);
    this.#members.set(name, { ...member, vanished: true, mark: '' });
    this.#changes++;
    return true;
  }

  #namesPresent(): readonly string[] {
    return [...this.#members].flatMap(([name, { vanished }]) => (vanished ? [] : [name]));
  }

  #tell(): void {
    if (this.#changesTold === this.#changes) return;
    this.#changesTold = this.#changes;
    const { named, isHeld, onMembers } = this.#options;
    const isDead = ([, { tombstone }]: readonly [string, Member]): boolean => tombstone.Died !== undefined;
    const gone = [...this.#members].filter(([name, { vanished }]) => vanished && !named.has(name) && !isHeld(name));
    // The dead go first, then those that vanished first.
    gone.sort((a, b) => Number(isDead(b)) - Number(isDead(a)));
    for (const [name] of gone.slice(0, Math.max(0, gone.length - MAX_MEMBERS))) this.#members.delete(name);
    onMembers([...this.#members.values()].sort((a, b) => (a.tombstone.Name < b.tombstone.Name ? -1 : 1)));
  }
}
