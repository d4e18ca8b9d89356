/**
 * Watches the new connections of this network namespace, for a drain that ends when they have stopped coming.
 *
 * Theory of operation. One counter is read ten times a second; as long as it does not rise nothing else is. What it
 * tells is judged (`judge.ts`): whose the connections were. When it seems to be quiet it is asked whether requests come
 * over connections that are kept (`keep-alive.ts`), which nothing counts. Whenever there is doubt the drain is longer.
 */
import type { AdaptiveDrain } from '../../core/config.ts';
import { collectMade, forgetMade } from '../probes/made.ts';
import { Counter } from './counter.ts';
import { Departures } from './departures.ts';
import { Judge, TURN_MS } from './judge.ts';
import { KeepAliveConnections, MAX_TOLD, type Used } from './keep-alive.ts';
import { Looks } from './look.ts';
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
  #judge: Judge | undefined;
  #departures: Departures | undefined;
  #kept: KeepAliveConnections | undefined;
  #counter: Counter | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  readonly #startMs: number;
  /** Of the last request over a connection that is kept. */
  #usedMs: number;
  readonly #teller: Teller;

  constructor(options: WatchOptions) {
    const { drain, ownPorts = [], now } = options;
    this.#options = options;
    this.#teller = new Teller(options.onSeen);
    this.#looks = new Looks({ ...drain, own: ownPorts, made: collectMade(), now });
    this.#startMs = now();
    this.#usedMs = this.#startMs;
  }

  async start(): Promise<void> {
    await this.#try(async () => {
      this.#counter = new Counter();
      const departures = new Departures(this.#options.init);
      this.#departures = departures;
      const judge = new Judge({ ...this.#options, count: () => this.#read(), departures, looks: this.#looks });
      this.#judge = judge;
      const before = this.#read();
      await new Promise((resolve) => setTimeout(resolve, GLANCE_MS));
      await judge.start(this.#read() - before, GLANCE_MS);
    });
  }

  /** Throws when the watch was closed meanwhile, which ends the step that asks. */
  #read(): number {
    if (this.#counter === undefined) throw new Error('the watch is closed');
    return this.#counter.read();
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
    await this.#judge?.turn();
    if (this.#options.drain.inflight && this.#judge?.seen.open !== 0 && this.#isQuiet())
      await this.#judge?.lookForOpen();
    if (this.#mayEnd()) await this.#lookForUse();
  }

  /** Requests over connections that are kept: no counter has told of them. */
  async #lookForUse(): Promise<void> {
    const { drain, init, now } = this.#options;
    const ports = this.#looks.ports();
    // Also when it was closed during a look: nothing would end the helper.
    if (this.#isOver || drain.newOnly || init === undefined || ports.length === 0) return;
    this.#kept ??= new KeepAliveConnections(init, ports);
    const used = (await this.#kept.ask(drain.quietMs)) ?? [];
    // So many neighbours may hide others.
    const counts = (it: Used): boolean => used.length >= MAX_TOLD || this.#looks.counts(it);
    const ages = used.filter(counts).map(({ agoMs }) => agoMs);
    if (ages.length > 0) this.#usedMs = Math.max(this.#usedMs, now() - Math.min(...ages));
  }

  #latestMs(): number {
    return Math.max(this.#usedMs, this.#judge?.seen.lastMs ?? this.#startMs);
  }

  #isQuiet(): boolean {
    return this.#options.now() >= this.#latestMs() + this.#options.drain.quietMs;
  }

  /** With nothing else in its way. */
  #mayEnd(): boolean {
    const { drain, now } = this.#options;
    return this.#isQuiet() && now() >= this.#startMs + drain.minMs && (!drain.inflight || this.#judge?.seen.open === 0);
  }

  #tell(): void {
    if (this.#isOver || this.#judge === undefined) return;
    const { pace, byAddress } = this.#looks;
    const isKept = this.#usedMs > this.#startMs;
    const steady = isKept ? undefined : pace.steady(this.#judge.judged);
    const seen = { ...this.#judge.seen, lastMs: this.#latestMs(), byAddress, steady };
    this.#teller.tell(seen, this.#options.now(), this.#isQuiet());
  }
}

const GLANCE_MS = 20;
