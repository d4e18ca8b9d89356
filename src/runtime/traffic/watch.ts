/**
 * Watches the new connections of this network namespace, for a drain that ends when they have stopped coming.
 *
 * Theory of operation. One counter is read ten times a second; as long as it does not rise nothing else is. When it rises by some, each of
 * them has either gone since, which the kernel tells (`departures.ts`), or stands in the tables of sockets (`look.ts`); both say whose it was.
 * When it seems to be quiet it is asked whether requests come over connections that are kept (`kept.ts`), which nothing counts.
 * A flood is not looked at, and neither is what would cost more than its share of the CPU: that counts. So does what nothing explains, after a
 * few turns in which word of it may still come. Whenever there is doubt the drain is longer.
 */
import type { AdaptiveDrain } from '../../core/config.ts';
import { collectMade, forgetMade } from '../probes/made.ts';
import { Counter } from './counter.ts';
import { Departures } from './departures.ts';
import { KeptConnections, MOST_TOLD, type Used } from './kept.ts';
import { Looks, type Sight } from './look.ts';
import { type Seen, Teller } from './teller.ts';

export interface WatchOptions {
  readonly drain: AdaptiveDrain;
  /** Where sexton itself answers. */
  readonly ownPorts?: readonly number[];
  /** What a supervisor before this one has counted. */
  readonly connections: number;
  readonly ignored: number;
  /** A path of sexton-init; undefined: there is none. */
  readonly init: string | undefined;
  /** CLOCK_MONOTONIC milliseconds. */
  readonly now: () => number;
  readonly onSeen: (seen: Seen) => void;
  /** It cannot be seen here; nothing follows. */
  readonly onUnseen: (why: string) => void;
}

export class TrafficWatch {
  readonly #options: WatchOptions;
  readonly #looks: Looks;
  readonly #made = collectMade();
  #departures: Departures | undefined;
  #kept: KeptConnections | undefined;
  #counter: Counter | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  /** The counter as it was read last. */
  #count = 0;
  /** Came and is not judged yet. */
  #rise = NONE;
  /** Something was not looked at: what is seen next may be old. */
  #isStale = false;
  /** Rises of so many in one turn go on as they were. */
  #flood = Number.POSITIVE_INFINITY;
  /** Was seen before it was counted. */
  #early = 0;
  readonly #startMs: number;
  #lastMs: number;
  #connections: number;
  #ignored: number;
  #open: number | undefined;
  readonly #teller: Teller;

  constructor(options: WatchOptions) {
    const { drain, ownPorts = [], connections, ignored, now } = options;
    this.#options = options;
    this.#teller = new Teller(options.onSeen);
    this.#looks = new Looks({ ...drain, own: ownPorts, now });
    this.#startMs = now();
    this.#lastMs = this.#startMs;
    this.#connections = connections;
    this.#ignored = ignored;
  }

  async start(): Promise<void> {
    await this.#try(async () => {
      this.#counter = new Counter();
      this.#departures = new Departures(this.#options.init);
      const before = this.#counter.read();
      await new Promise((resolve) => setTimeout(resolve, GLANCE_MS));
      const isFlood = (this.#counter?.read() ?? before) - before >= (FLOOD * GLANCE_MS) / TURN_MS;
      const sight = isFlood || this.#isOver ? undefined : await this.#lookAnew();
      this.#open = sight?.open;
      this.#isStale = sight === undefined;
      this.#count = this.#counter?.read() ?? before;
      // What came before this moment is not known.
      this.#lastMs = this.#options.now();
    });
  }

  async #lookAnew(): Promise<Sight | undefined> {
    await this.#departures?.ask(() => {});
    return this.#looks.look(this.#made);
  }

  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#departures?.close();
    this.#kept?.close();
    this.#counter?.close();
    this.#counter = undefined;
    forgetMade();
  }

  async #try(step: () => Promise<void>): Promise<void> {
    if (this.#isOver) return;
    try {
      await step();
    } catch (error) {
      if (this.#isOver) return;
      this.close();
      return this.#options.onUnseen(error instanceof Error ? error.message : String(error));
    }
    this.#tell();
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#try(() => this.#turn()), TURN_MS);
  }

  async #turn(): Promise<void> {
    const count = this.#counter?.read() ?? this.#count;
    // It is a number of 64 bits, but a kernel may have been told to begin anew.
    const came = Math.max(0, count - this.#count - this.#early);
    this.#count = count;
    this.#early = 0;
    const { count: before, atMs, turns } = this.#rise;
    // Which of them is not explained yet cannot be told, so all wait from the first one on, and the time is that of the last one.
    this.#rise = {
      count: before + came,
      atMs: came > 0 ? this.#options.now() : atMs,
      turns: before > 0 ? turns + 1 : 0,
    };
    if (this.#rise.count > 0 || this.#isStale) await this.#judge(came);
    if (this.#options.drain.inflight && this.#open !== 0 && this.#isQuiet()) await this.#lookForOpen();
    if (this.#mayEnd()) await this.#lookForUse();
  }

  /** Whether what has come counts. */
  async #judge(came: number): Promise<void> {
    if (came >= FLOOD || (came >= FEW && came >= this.#flood / 2)) return this.#takeAll();
    const departed = { fresh: 0, ignored: 0, open: 0, lines: 0 };
    const isWhole = await this.#departures?.ask((line) => this.#looks.takeDeparted(line, departed, this.#made));
    if (this.#isOver) return;
    const { count } = this.#rise;
    // Where we cannot know what is old, it has to be just these.
    if (isWhole === true && departed.fresh === 0 && departed.ignored >= count && count > 0)
      return this.#weigh(came, departed);
    const isOld = this.#isStale;
    const sight = await this.#looks.look(this.#made);
    if (this.#isOver) return;
    if (sight === undefined) return this.#takeAll();
    this.#isStale = false;
    this.#open = sight.open;
    // What is seen now may be older than what has come, which counts then.
    if (isOld) return this.#add(count, 0);
    this.#weigh(came, { ...sight, fresh: sight.fresh + departed.fresh, ignored: sight.ignored + departed.ignored });
  }

  #weigh(came: number, { fresh, ignored }: Pick<Sight, 'fresh' | 'ignored'>): void {
    const { count, turns } = this.#rise;
    const seen = fresh + ignored;
    const [missing, works] = [Math.max(0, count - seen), this.#departures?.works === true];
    // Of our own connections we know, and of those that have gone word may still be on its way.
    const own = Math.min(missing, this.#made.size);
    const isAwaited = works && missing > own && turns < MOST_TURNS;
    const gone = isAwaited ? 0 : missing - own;
    // What was seen before it was counted has come since.
    const atMs = seen > count ? this.#options.now() : this.#rise.atMs;
    if (fresh + gone > 0) this.#flood = came;
    else if (!isAwaited) this.#flood = Number.POSITIVE_INFINITY;
    // What is seen while it is not known what is old may be old.
    this.#early = this.#isStale ? 0 : Math.max(0, seen - count);
    this.#rise = { count, atMs, turns };
    this.#add(fresh + gone, ignored + (isAwaited ? 0 : own));
    if (isAwaited) this.#rise = { count: missing, atMs, turns };
    else for (const port of [...this.#made].slice(0, own)) this.#made.delete(port);
  }

  /** Without a look. */
  #takeAll(): void {
    if (this.#rise.count > 0 && !this.#isStale) this.#departures?.pause();
    this.#isStale = true;
    this.#made.clear();
    this.#add(this.#rise.count, 0);
  }

  /** All that has risen is judged by this. */
  #add(connections: number, ignored: number): void {
    this.#connections += connections;
    this.#ignored += ignored;
    if (connections > 0) this.#lastMs = Math.max(this.#lastMs, this.#rise.atMs);
    this.#rise = NONE;
  }

  async #lookForOpen(): Promise<void> {
    const sight = await this.#looks.look(this.#made);
    if (sight === undefined) return;
    this.#open = sight.open;
    if (sight.fresh + sight.ignored === 0) return;
    this.#early = sight.fresh + sight.ignored;
    this.#rise = { count: 0, atMs: this.#options.now(), turns: 0 };
    this.#add(sight.fresh, sight.ignored);
  }

  /** Requests over connections that are kept: no counter has told of them. */
  async #lookForUse(): Promise<void> {
    const { drain, init, now } = this.#options;
    const ports = this.#looks.ports();
    // Also when it was closed during a look: nobody would end the helper.
    if (this.#isOver || drain.newOnly || init === undefined || ports.length === 0) return;
    this.#kept ??= new KeptConnections(init, ports);
    const used = (await this.#kept.ask(drain.quietMs)) ?? [];
    // So many neighbours may hide others.
    const counts = (it: Used): boolean => used.length >= MOST_TOLD || this.#looks.counts(it);
    const ages = used.filter(counts).map(({ agoMs }) => agoMs);
    if (ages.length > 0) this.#lastMs = Math.max(this.#lastMs, now() - Math.min(...ages));
  }

  /** What is not judged yet counts as long as it is not. */
  #latestMs(): number {
    return this.#rise.count > 0 ? Math.max(this.#lastMs, this.#rise.atMs) : this.#lastMs;
  }

  #isQuiet(): boolean {
    return this.#options.now() >= this.#latestMs() + this.#options.drain.quietMs;
  }

  /** With nothing else in its way. */
  #mayEnd(): boolean {
    const { drain, now } = this.#options;
    return this.#isQuiet() && now() >= this.#startMs + drain.minMs && (!drain.inflight || this.#open === 0);
  }

  #tell(): void {
    if (this.#isOver) return;
    const seen: Seen = {
      lastMs: this.#latestMs(),
      connections: this.#connections + this.#rise.count,
      ignored: this.#ignored,
      open: this.#open,
    };
    this.#teller.tell(seen, this.#options.now(), this.#isQuiet());
  }
}

/** `atMs`: when the counter was seen to have risen last; `turns`: so long has it not been explained. */
const NONE = { count: 0, atMs: 0, turns: 0 };
const TURN_MS = 100;
const GLANCE_MS = 20;
/** The kernel tells by a worker of its own, which may be late on a busy machine. */
const MOST_TURNS = 30;
/** So many in one turn are looked at in any case. */
const FEW = 5;
/** So many never are. */
const FLOOD = 100;
