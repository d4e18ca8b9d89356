/**
 * Explains the connections that the counter counts: whose they are, and so whether they count.
 *
 * Theory of operation. Every connection behind a rise of the counter has either closed by now or is open. The kernel
 * reports closed ones, which costs little; only for what that does not explain, the open ones are listed. The counter
 * is read again after either, so what was found has been counted. What waits for an explanation counts meanwhile, and
 * counts for good after MAX_WAIT_MS. In a flood, or when the kernel has dropped reports, all that has come counts, and
 * all that is open is listed anew. Without netlink everything counts, but for sexton's own probes.
 */
import type { AdaptiveDrain } from '../../core/config.ts';
import type { SteadyPace } from '../../core/state/state.ts';
import { collectMade, forgetMade } from '../probes/made.ts';
import { Connections } from './connections.ts';
import { Counter } from './counter.ts';
import { type Answer, EVER, Informant } from './informant.ts';
import { Pace } from './pace.ts';

export interface TallyOptions {
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
}

/** As the core wants it: since the drain began. */
export interface Seen {
  readonly lastMs: number;
  readonly connections: number;
  readonly ignored: number;
  readonly open: number | undefined;
  readonly byAddress: number;
  readonly steady: SteadyPace | undefined;
}

export class Tally {
  readonly #options: TallyOptions;
  readonly #now: () => number;
  readonly #counter = new Counter();
  readonly #informant: Informant;
  readonly #connections: Connections;
  readonly #pace = new Pace();
  /** The counter as it was read last. */
  #count = this.#counter.read();
  readonly #ownClients = collectMade();
  /** What waits for an explanation. */
  #pending = NONE;
  #seen: Omit<Seen, 'steady'>;
  /** The list of known connections is out of date. */
  #isStale = true;
  /** A connection that is kept has had the last word. */
  #isKept = false;
  #lookedMs = 0;
  #mayLookMs = 0;

  /** Throws when connections cannot be counted. */
  constructor(options: TallyOptions) {
    const { drain, ownPorts = [], connections, ignored, init, now } = options;
    this.#options = options;
    this.#now = now;
    this.#informant = new Informant(init);
    this.#connections = new Connections(drain, ownPorts, this.#ownClients);
    this.#seen = { lastMs: now(), connections, ignored, open: undefined, byAddress: 0 };
  }

  /** Learns which connections are there already. Nothing tells when those came, so the drain begins afterwards. */
  async start(): Promise<void> {
    await this.#learn();
    this.#count = this.#counter.read();
    this.#pending = NONE;
    this.#seen = { ...this.#seen, connections: this.#options.connections, lastMs: this.#now() };
  }

  /** What waits for an explanation counts. */
  get seen(): Seen {
    const { count, lastMs } = this.#pending;
    const steady = this.#isKept ? undefined : this.#pace.steady(this.#seen.connections);
    const connections = this.#seen.connections + count;
    return { ...this.#seen, lastMs: Math.max(this.#seen.lastMs, lastMs), connections, steady };
  }

  async update(): Promise<void> {
    if (this.#read() >= FLOOD) this.#isStale = true;
    else if (this.#isStale && this.#mayLook()) await this.#learn();
    else if (!this.#isStale && this.#pending.count > 0) await this.#explain();
    if (this.#isStale) this.#settle(this.#pending.count, 0);
  }

  /**
   * Looks which open connections received data in the last `quietMs`, or with `isAll` at all open ones. Resolves with
   * false when it is too soon for another look.
   */
  async look(isAll: boolean): Promise<boolean> {
    if (!this.#informant.works) return true;
    if (!this.#mayLook()) return false;
    await this.#ask(isAll ? EVER : Math.max(this.#options.drain.quietMs, this.#sinceLookMs()));
    return true;
  }

  close(): void {
    this.#informant.close();
    this.#counter.close();
    forgetMade();
  }

  /** How many have come since the last reading. */
  #read(): number {
    const counted = this.#counter.read();
    // It is a number of 64 bits, but a kernel may have been told to begin anew.
    const came = Math.max(0, counted - this.#count);
    this.#count = counted;
    const { count, sinceMs } = this.#pending;
    const nowMs = this.#now();
    // Which of them are explained is not known, so all wait from the first one on and have the time of the last one.
    if (came > 0) this.#pending = { count: count + came, sinceMs: count > 0 ? sinceMs : nowMs, lastMs: nowMs };
    return came;
  }

  #mayLook(): boolean {
    return this.#now() >= this.#mayLookMs;
  }

  #sinceLookMs(): number {
    return this.#now() - this.#lookedMs + SLACK_MS;
  }

  async #explain(): Promise<void> {
    const { sinceMs } = this.#pending;
    const waitedMs = this.#now() - sinceMs;
    await this.#ask(waitedMs >= SHORT_MS && this.#mayLook() ? this.#sinceLookMs() : 0);
    if (waitedMs >= MAX_WAIT_MS) this.#settle(this.#pending.count, 0);
  }

  async #learn(): Promise<void> {
    // What closed before is of no interest, and there may be too much of it.
    await this.#list(0);
    const answer = await this.#list(EVER);
    this.#connections.take(answer?.connections ?? [], true);
    this.#seen = { ...this.#seen, open: answer && this.#connections.open };
    this.#settle(this.#pending.count, 0);
    this.#isStale = answer?.isWhole === false;
  }

  async #ask(windowMs: number): Promise<void> {
    const answer = await this.#list(windowMs);
    const atMs = this.#now();
    if (answer === undefined) {
      const own = Math.min(this.#ownClients.size, this.#pending.count);
      this.#ownClients.clear();
      return this.#settle(this.#pending.count - own, own);
    }
    this.#isStale = !answer.isWhole;
    const { fresh, ignored, byAddress, usedAgoMs } = this.#connections.take(answer.connections, windowMs === EVER);
    for (const connection of fresh) this.#pace.take(connection, this.#pending.lastMs);
    this.#seen = { ...this.#seen, open: this.#connections.open, byAddress: this.#seen.byAddress + byAddress };
    this.#settle(fresh.length, ignored);
    const usedMs = this.#options.drain.newOnly ? 0 : atMs - usedAgoMs;
    this.#isKept ||= usedMs > this.#seen.lastMs;
    this.#seen = { ...this.#seen, lastMs: Math.max(this.#seen.lastMs, usedMs) };
  }

  async #list(windowMs: number): Promise<Answer | undefined> {
    const beganMs = this.#now();
    const didWork = this.#informant.works;
    const answer = await this.#informant.ask(windowMs);
    // By the end of this turn of the event loop the process has heard of the connections that it made itself.
    await new Promise((resolve) => setImmediate(resolve));
    this.#read();
    if (windowMs > 0) {
      this.#lookedMs = beganMs;
      this.#mayLookMs = this.#now() + (this.#now() - beganMs) * PAUSE;
    }
    // Those were explained: they must not explain what comes from now on.
    if (didWork && answer === undefined) this.#ownClients.clear();
    return answer;
  }

  /** So many of those that wait are explained. */
  #settle(connections: number, ignored: number): void {
    const { count, sinceMs, lastMs } = this.#pending;
    const fresh = Math.min(connections, count);
    const others = Math.min(ignored, count - fresh);
    this.#seen = {
      ...this.#seen,
      connections: this.#seen.connections + fresh,
      ignored: this.#seen.ignored + others,
      lastMs: fresh > 0 ? Math.max(this.#seen.lastMs, lastMs) : this.#seen.lastMs,
    };
    this.#pending = count > fresh + others ? { count: count - fresh - others, sinceMs, lastMs } : NONE;
  }
}

/** `sinceMs`: when the first of them was counted; `lastMs`: when the last was. */
const NONE = { count: 0, sinceMs: 0, lastMs: 0 };
/** Most connections have closed by then. */
const SHORT_MS = 200;
/** The kernel reports by a worker of its own, which may be late on a busy machine. */
const MAX_WAIT_MS = 3_000;
/** So many in one update are not looked into. */
const FLOOD = 100;
/** A look is followed by a pause of so many times its length: it takes 2 % of one core at most. */
const PAUSE = 50;
/** The kernel's clock of a connection may be behind by a tick, and the dump begins later than the question. */
const SLACK_MS = 1_000;
