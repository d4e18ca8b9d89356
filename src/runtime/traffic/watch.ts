/**
 * Watches the new connections of this network namespace, for a drain that ends when they have stopped coming.
 *
 * Theory of operation. One counter is read ten times a second; as long as it does not rise nothing else is. When it rises, the tables of
 * sockets tell whose connections these were (`look.ts`). What has come and gone between two looks, and is not explained by connections
 * that we have made ourselves, counts. So does what cannot be looked at, because there is so much of it that looking would cost more than
 * its share of the CPU: whenever there is doubt the drain is longer.
 */
import type { AdaptiveDrain } from '../../core/config.ts';
import { collectMade, forgetMade } from '../probes/made.ts';
import { Allowance } from './allowance.ts';
import { Counter, countSockets } from './counter.ts';
import { Looks, type Sight } from './look.ts';
import { Tolerance } from './tolerance.ts';

/** As the core wants it: since the drain began. */
export interface Seen {
  readonly lastMs: number;
  readonly connections: number;
  readonly ignored: number;
  readonly open: number | undefined;
}

export interface WatchOptions {
  readonly drain: AdaptiveDrain;
  /** What a supervisor before this one has counted. */
  readonly connections: number;
  readonly ignored: number;
  /** CLOCK_MONOTONIC milliseconds. */
  readonly now: () => number;
  readonly onSeen: (seen: Seen) => void;
  /** It cannot be seen here; nothing follows. */
  readonly onUnseen: (why: string) => void;
}

export class TrafficWatch {
  readonly #options: WatchOptions;
  readonly #looks: Looks;
  readonly #tolerance: Tolerance;
  readonly #allowance: Allowance;
  readonly #made = collectMade();
  #counter: Counter | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  /** The counter as it was read last. */
  #count = 0;
  /** Came since the last look, and is not judged yet; `atMs`: when it was seen to have risen last. */
  #rise = { count: 0, atMs: 0 };
  /** Tables were not looked at when there was something to see: what they show next may be old. */
  #isStale = false;
  /** Of the last look that has found something that counts: how much came in one turn. */
  #flood = Number.POSITIVE_INFINITY;
  /** Was in the tables before it was in the counter. */
  #early = 0;
  #lastMs: number;
  #connections: number;
  #ignored: number;
  #open: number | undefined;
  #told: { readonly atMs: number; readonly text: string } = { atMs: 0, text: '' };

  constructor(options: WatchOptions) {
    const { drain, connections, ignored, now } = options;
    this.#options = options;
    this.#looks = new Looks(drain);
    this.#tolerance = new Tolerance(drain.unseen, now());
    this.#allowance = new Allowance(drain.maxMs, now());
    // What came before we were there is not known.
    this.#lastMs = now();
    this.#connections = connections;
    this.#ignored = ignored;
  }

  async start(): Promise<void> {
    try {
      this.#counter = new Counter();
      this.#count = this.#counter.read();
      const sight = await this.#look();
      this.#open = sight?.open;
      this.#isStale = sight === undefined;
    } catch (error) {
      return this.#giveUp(error);
    }
    this.#tell();
    this.#sleep();
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#counter?.close();
    this.#counter = undefined;
    forgetMade();
  }

  #sleep(): void {
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#turn(), TURN_MS);
  }

  async #turn(): Promise<void> {
    try {
      const count = this.#counter?.read() ?? this.#count;
      const came = Math.max(0, count - this.#count);
      this.#count = count;
      if (came > 0) this.#rise = { count: this.#rise.count + came, atMs: this.#options.now() };
      await this.#judge(came);
      if (this.#isOver) return;
      if (this.#isQuiet() && this.#options.drain.inflight) await this.#lookForOpen();
    } catch (error) {
      return this.#giveUp(error);
    }
    this.#tell();
    this.#sleep();
  }

  /** Whether what has come counts. */
  async #judge(came: number): Promise<void> {
    const isToSee = this.#rise.count > 0 || this.#isStale;
    if (!isToSee || this.#isOver) return;
    // A flood that was looked at and goes on is one.
    if (came >= FEW && came >= this.#flood / 2) return this.#takeAll();
    const { count, atMs } = this.#rise;
    const sight = await this.#look();
    if (sight === undefined) return this.#takeAll();
    const isOld = this.#isStale;
    this.#rise = { count: 0, atMs: 0 };
    this.#isStale = false;
    this.#open = sight.open;
    this.#flood = sight.fresh > 0 ? came : Number.POSITIVE_INFINITY;
    // What the tables show may have come before; what it was is decided already.
    if (isOld) return count > 0 ? this.#add(count, 0, atMs) : undefined;
    this.#weigh(count, atMs, sight);
  }

  #weigh(count: number, atMs: number, { fresh, ignored }: Sight): void {
    const own = this.#made.size;
    this.#made.clear();
    const explained = ignored + own + this.#early;
    const gone = Math.max(0, count - fresh - explained);
    const tolerated = this.#tolerance.take(gone, this.#options.now());
    const counting = fresh + gone - tolerated;
    this.#early = Math.max(0, fresh + explained - count);
    this.#add(counting, Math.max(0, count - counting), fresh > count ? this.#options.now() : atMs);
  }

  #takeAll(): void {
    const { count, atMs } = this.#rise;
    this.#rise = { count: 0, atMs: 0 };
    this.#isStale = true;
    this.#add(count, 0, atMs);
  }

  #add(connections: number, ignored: number, atMs: number): void {
    this.#connections += connections;
    this.#ignored += ignored;
    if (connections > 0) this.#lastMs = Math.max(this.#lastMs, atMs);
  }

  async #lookForOpen(): Promise<void> {
    if (this.#open === 0) return;
    const sight = await this.#look();
    if (sight === undefined) return;
    this.#open = sight.open;
    // Whoever came meanwhile is known by now, and has to be counted here.
    if (sight.fresh > 0) this.#early += sight.fresh + sight.ignored;
    if (sight.fresh > 0) this.#add(sight.fresh, 0, this.#options.now());
  }

  /** undefined: it would cost too much now. */
  async #look(): Promise<Sight | undefined> {
    const lines = countSockets();
    if (lines === undefined || !this.#allowance.has(lines, this.#options.now())) return undefined;
    const before = process.cpuUsage();
    // The turn in which we hear of our own connections.
    await new Promise((resolve) => setImmediate(resolve));
    const sight = await this.#looks.look(this.#made);
    const { user, system } = process.cpuUsage(before);
    this.#allowance.spend((user + system) / 1_000, sight.lines);
    return sight;
  }

  #isQuiet(): boolean {
    return this.#rise.count === 0 && this.#options.now() >= this.#lastMs + this.#options.drain.quietMs;
  }

  /** Not each single connection, but at once when it may be over. */
  #tell(): void {
    if (this.#isOver) return;
    const atMs = this.#options.now();
    const seen: Seen = {
      lastMs: this.#lastMs,
      connections: this.#connections,
      ignored: this.#ignored,
      open: this.#open,
    };
    const text = JSON.stringify(seen);
    const isNews = text !== this.#told.text && atMs >= this.#told.atMs + TELL_MS;
    if (!isNews && !this.#isQuiet()) return;
    this.#told = { atMs, text };
    this.#options.onSeen(seen);
  }

  #giveUp(error: unknown): void {
    if (this.#isOver) return;
    this.close();
    this.#options.onUnseen(error instanceof Error ? error.message : String(error));
  }
}

const TURN_MS = 100;
const TELL_MS = 500;
/** So many in one turn are looked at in any case. */
const FEW = 5;
