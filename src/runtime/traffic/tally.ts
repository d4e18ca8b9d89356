/**
 * Explains the connections that the counter counts: whose they are, and so whether they count.
 *
 * Theory of operation. Every connection that the counter has added is either closed by now or open. The kernel reports
 * closed ones, which costs little. The open ones are listed only if those do not explain the count. The counter is read
 * again after either, so it includes what was found. What waits for an explanation counts meanwhile, and counts for
 * good after MAX_WAIT_MS. In a flood, or when the kernel has dropped reports, all that has come counts, and all that is
 * open is listed again. Without netlink everything counts, but for sexton's own probes.
 */
import type { AdaptiveDrain } from '../../core/config.ts';
import type { Event } from '../../core/state/events.ts';
import { collectOwnPorts, forgetOwnPorts } from '../probes/tcp.ts';
import { Connections } from './connections.ts';
import { Counter } from './counter.ts';
import { EVER, Informant } from './informant.ts';
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

export type Seen = Omit<Event & { type: 'trafficSeen' }, 'type' | 'at' | 'lastMs'> & { readonly lastMs: number };

export class Tally {
  readonly #options: TallyOptions;
  readonly #counter = new Counter();
  #count = this.#counter.read();
  readonly #ownClients = collectOwnPorts();
  readonly #informant: Informant;
  readonly #connections: Connections;
  readonly #pace = new Pace();
  #pending = NONE;
  #seen: Seen;
  #isBlind = false;
  /** The list of known connections is out of date. */
  #isStale = true;
  /** The drain goes on for a request over a kept connection. */
  #isKept = false;
  #lookedMs = 0;
  #mayLookMs = 0;

  /** Throws when connections cannot be counted. */
  constructor(options: TallyOptions) {
    const { drain, ownPorts = [], connections, ignored, init, now } = options;
    this.#options = options;
    this.#informant = new Informant(init);
    this.#connections = new Connections(drain, ownPorts, this.#ownClients);
    this.#seen = { lastMs: now(), connections, ignored, open: undefined, byAddress: 0 };
  }

  /** Learns which connections are there already. Nothing tells when those came, so the drain begins afterwards. */
  async start(): Promise<void> {
    await this.#learn();
    this.#count = this.#counter.read();
    this.#pending = NONE;
    this.#seen = { ...this.#seen, connections: this.#options.connections, lastMs: this.#options.now() };
  }

  /** What waits for an explanation counts. */
  get seen(): Seen {
    const { count, lastMs } = this.#pending;
    const steady = this.#isKept ? undefined : this.#pace.steady(this.#seen.connections);
    const connections = this.#seen.connections + count;
    const blind = this.#isBlind ? this.#informant.refusal : undefined;
    return { ...this.#seen, lastMs: Math.max(this.#seen.lastMs, lastMs), connections, steady, blind };
  }

  async update(): Promise<void> {
    const came = this.#read();
    const { count, sinceMs } = this.#pending;
    const waitedMs = this.#options.now() - sinceMs;
    if (came >= FLOOD) this.#isStale = true;
    else if (this.#isStale && this.#mayLook()) await this.#learn();
    else if (count > 0 && !this.#isStale)
      await this.#ask(waitedMs >= SHORT_MS && this.#mayLook() ? this.#sinceLookMs() : 0);
    if (this.#isStale || (count > 0 && waitedMs >= MAX_WAIT_MS)) this.#settle(this.#pending.count, 0);
  }

  /**
   * Looks which open connections received data in the last `quietMs`, or with `isAll` at all open ones. Resolves with
   * false when it is too soon for another look.
   */
  async look(isAll: boolean): Promise<boolean> {
    if (this.#isBlind) return true;
    if (!this.#mayLook()) return false;
    await this.#ask(isAll ? EVER : Math.max(this.#options.drain.quietMs, this.#sinceLookMs()));
    return true;
  }

  close(): void {
    this.#informant.close();
    this.#counter.close();
    forgetOwnPorts();
  }

  /** Returns how many have come since the last reading. */
  #read(): number {
    const counted = this.#counter.read();
    // The counter has 64 bits, but it may have been reset.
    const came = Math.max(0, counted - this.#count);
    this.#count = counted;
    const lastMs = this.#options.now();
    const { count, sinceMs } = this.#pending.count > 0 ? this.#pending : { count: 0, sinceMs: lastMs };
    // Which of them are explained is not known, so all wait from the first one on and have the time of the last one.
    if (came > 0) this.#pending = { count: count + came, sinceMs, lastMs };
    return came;
  }

  #mayLook(): boolean {
    return this.#options.now() >= this.#mayLookMs;
  }

  #sinceLookMs(): number {
    return this.#options.now() - this.#lookedMs + SLACK_MS;
  }

  async #learn(): Promise<void> {
    // There may be too many reports of what has closed, and they are of no interest.
    await this.#informant.ask(0);
    await this.#ask(EVER, true);
  }

  /** `isOld`: nothing of what is found is new, and all that waits counts. */
  async #ask(windowMs: number, isOld = false): Promise<void> {
    const beganMs = this.#options.now();
    const answer = await this.#informant.ask(windowMs);
    // By the end of this turn of the event loop the process knows the connections that it made itself.
    await new Promise((resolve) => setImmediate(resolve));
    this.#read();
    if (answer === undefined) return this.#settleBlindly();
    const atMs = this.#options.now();
    if (windowMs > 0) [this.#lookedMs, this.#mayLookMs] = [beganMs, atMs + (atMs - beganMs) * PAUSE];
    this.#isStale = !answer.isWhole;
    const { fresh, ignored, byAddress, usedAgoMs } = this.#connections.take(answer.connections, windowMs === EVER);
    this.#seen = { ...this.#seen, open: this.#connections.open };
    if (isOld) return this.#settle(this.#pending.count, 0);
    for (const connection of fresh) this.#pace.take(connection, this.#pending.lastMs);
    this.#settle(fresh.length, ignored);
    const usedMs = this.#options.drain.newOnly ? 0 : atMs - usedAgoMs;
    this.#isKept ||= usedMs > this.#seen.lastMs;
    const lastMs = Math.max(this.#seen.lastMs, usedMs);
    this.#seen = { ...this.#seen, lastMs, byAddress: this.#seen.byAddress + byAddress };
  }

  /** All that waits counts, but for as many as this process has made itself. */
  #settleBlindly(): void {
    // Those that came before were explained.
    if (!this.#isBlind) this.#ownClients.clear();
    [this.#isBlind, this.#isStale] = [true, false];
    this.#seen = { ...this.#seen, open: undefined };
    const own = this.#ownClients.size;
    this.#ownClients.clear();
    this.#settle(Math.max(0, this.#pending.count - own), own);
  }

  /** Explains this many of those that wait. */
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
/** With this many new connections in one update, their explanation is left to a later look. */
const FLOOD = 100;
/** A look is followed by a pause of this many times its length: it takes 2 % of one core at most. */
const PAUSE = 50;
/** The kernel's clock of a connection may be behind by a tick, and the dump begins later than the question. */
const SLACK_MS = 1_000;
