/**
 * Reads what the other members write: one file when an event names it, and all files at the start and every few
 * seconds. Events can be missing on network volumes, or where inotify limits are exhausted.
 *
 * A file that does not parse may be half written: the last good tombstone stays, and the file is read again soon. A
 * file that is gone leaves its last good tombstone behind, marked as vanished. Neither counts as a death.
 *
 * Any container that mounts the graveyard can create any number of tombstones. The scan keeps 128 present members and
 * 128 vanished ones, beside those that the configuration names.
 */
import { isRequestFor } from '../../core/format/stop-request.ts';
import type { Tombstone } from '../../core/format/tombstone.ts';
import type { Timer } from '../clock.ts';
import { sleep } from '../timeouts.ts';
import { MAX_MEMBERS, type Reading } from './read.ts';
import type { ReaderOptions } from './volume.ts';

export interface Member {
  /** Without its history, which no other member needs. The same object as long as the file says the same. */
  readonly tombstone: Tombstone;
  readonly vanished: boolean;
  /** Identifies the content of the file; empty once it has vanished, because a new file is always news. */
  readonly mark: string;
}

export interface ScanOptions extends ReaderOptions {
  /** Members that the configuration names: they are read however many others there are. */
  readonly named: ReadonlySet<string>;
  readonly onScan: () => Promise<void>;
  /** All other members by name: after the first scan, then after each change. */
  readonly onMembers: (members: readonly Member[]) => void;
  /** A stop request for this member, each time its file is seen. */
  readonly onRequest: (file: string) => Promise<void>;
  /** What lies in the graveyard and is no tombstone, each time it is seen. */
  readonly onIgnored: (name: string, why: string) => void;
}

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
  timer: Timer | undefined;
}

export class Scan {
  changes = 0;
  readonly #options: ScanOptions;
  readonly #members = new Map<string, Member>();
  readonly #rereads = new Map<string, Reread>();
  /** Files to read; `#isAllDue` also lists the directory. */
  readonly #due = new Set<string>();
  #isAllDue = false;
  #waiting: (() => void)[] = [];
  #changesTold = -1;
  #usedUntilMs = Number.NEGATIVE_INFINITY;
  #isWorking = false;
  #isStopped = false;
  #isUnreadable = false;

  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /** Resolves after a scan that began after this call; at once when the scan is stopped. */
  rescan(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    this.#isAllDue = true;
    const scanned = new Promise<void>((resolve) => this.#waiting.push(resolve));
    void this.#work();
    return scanned;
  }

  /** Reads this file soon, or all: it may have changed. */
  read(file?: string): void {
    if (file !== undefined && this.#due.size < MAX_MEMBERS) this.#due.add(file);
    else this.#isAllDue = true;
    void this.#work();
  }

  /** Everything that is known to have changed is read. */
  get isIdle(): boolean {
    const isRereading = [...this.#rereads.values()].some(({ timer }) => timer !== undefined);
    return !this.#isWorking && !this.#isUnreadable && !isRereading;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { timer } of this.#rereads.values()) this.#options.clock.timers.clearTimeout(timer);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #work(): Promise<void> {
    if (this.#isWorking || this.#isStopped) return;
    this.#isWorking = true;
    while (!this.#isStopped && (this.#isAllDue || this.#due.size > 0)) {
      // A caller that waits for a scan gets it at once.
      if (this.#waiting.length === 0) await this.#slowDown();
      const waiting = this.#waiting.splice(0);
      for (const file of this.#isAllDue ? await this.#list() : [...this.#due]) await this.#readNow(file);
      if (!this.#isStopped) this.#tell();
      for (const resolve of waiting) resolve();
    }
    this.#isWorking = false;
  }

  /** A neighbour that changes files without end must not take all of our CPU. */
  async #slowDown(): Promise<void> {
    const { timers } = this.#options.clock;
    const now = timers.performance.now();
    const roundMs = ROUND_MS * (1 + this.#members.size / MEMBERS_A_ROUND);
    this.#usedUntilMs = Math.max(this.#usedUntilMs, now - BURST_MS) + roundMs;
    if (this.#usedUntilMs > now) await sleep(timers, this.#usedUntilMs - now);
  }

  /** The files of a full scan: requests for us, then the named members, those that were present, and those listed. */
  async #list(): Promise<readonly string[]> {
    this.#isAllDue = false;
    this.#due.clear();
    const { volume, ownName, named, onScan, onIgnored, onTrouble } = this.#options;
    // One call after the other: each one that hangs holds one of the few threads that this process has for files.
    await onScan();
    try {
      const { names, hidden, ignored } = await volume.list((file) => isRequestFor(ownName, file));
      this.#isUnreadable = false;
      for (const { name, why } of ignored) onIgnored(name, why);
      return [...hidden, ...new Set([...named, ...this.#namesPresent(), ...names])].filter((name) => name !== ownName);
    } catch (error) {
      const what = `cannot read the graveyard ${volume.dir}: ${(error as Error).message}; it is tried again`;
      if (!this.#isUnreadable) onTrouble(what, error as Error);
      this.#isUnreadable = true;
      return [];
    }
  }

  async #readNow(file: string): Promise<void> {
    const { volume, clock, ownName, onRequest, onIgnored } = this.#options;
    // Before the reading, because an event that comes during it is news.
    this.#due.delete(file);
    if (this.#isStopped) return;
    if (isRequestFor(ownName, file)) return onRequest(file);
    const reading = await volume.read(file, this.#members.get(file)?.mark);
    if (this.#isStopped) return;
    if (reading.kind === 'unparsable') return this.#readAgain(file, reading.why);
    clock.timers.clearTimeout(this.#rereads.get(file)?.timer);
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
      this.read(file);
    };
    reread.timer = this.#options.clock.timers.setTimeout(onTime, FIRST_REREAD_MS * 2 ** reread.count++).unref();
  }

  #keep(name: string, { tombstone, mark }: Extract<Reading, { kind: 'tombstone' }>): void {
    const isPresent = this.#members.get(name)?.vanished === false;
    const isFull = this.#namesPresent().length >= MAX_MEMBERS;
    if (!isPresent && isFull && !this.#options.named.has(name)) return;
    const { History, ...rest } = tombstone;
    // A string that was cut out of kubexit's lines, unlike one out of JSON, keeps the whole text in memory.
    this.#members.set(name, { tombstone: rest.Version === 0 ? structuredClone(rest) : rest, vanished: false, mark });
    this.changes++;
  }

  /** Returns whether it was present. Members that vanished last stand last. */
  #lose(name: string): boolean {
    const member = this.#members.get(name);
    if (member?.vanished !== false) return false;
    this.#members.delete(name);
    this.#members.set(name, { ...member, vanished: true, mark: '' });
    this.changes++;
    return true;
  }

  #namesPresent(): readonly string[] {
    return [...this.#members].flatMap(([name, { vanished }]) => (vanished ? [] : [name]));
  }

  #tell(): void {
    if (this.#changesTold === this.changes) return;
    this.#changesTold = this.changes;
    const { named, onMembers } = this.#options;
    const gone = [...this.#members.values()].filter(
      ({ vanished, tombstone }) => vanished && !named.has(tombstone.Name),
    );
    // The dead go first, then those that vanished first.
    gone.sort((a, b) => Number(a.tombstone.Died === undefined) - Number(b.tombstone.Died === undefined));
    for (const { tombstone } of gone.slice(0, Math.max(0, gone.length - MAX_MEMBERS)))
      this.#members.delete(tombstone.Name);
    onMembers([...this.#members.values()].sort((a, b) => (a.tombstone.Name < b.tombstone.Name ? -1 : 1)));
  }
}
