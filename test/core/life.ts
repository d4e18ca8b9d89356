/**
 * One member's life on a fake clock: feeds events to the core, does for its effects what a host would do, and ticks exactly when
 * the core asked to be woken. The child is a script: what it does by itself, and how it takes each signal.
 */
import assert from 'node:assert/strict';
import type { MemberConfig } from '../../src/core/config.ts';
import type { Effect, Event } from '../../src/core/events.ts';
import type { ChildExit } from '../../src/core/exit.ts';
import { reduce } from '../../src/core/lifecycle.ts';
import type { PeerView } from '../../src/core/peers.ts';
import { tombstoneOf } from '../../src/core/record.ts';
import { SIGCHLD, SIGCONT, SIGKILL, SIGWINCH } from '../../src/core/signals.ts';
import { initialState, type State } from '../../src/core/state.ts';
import type { Tombstone } from '../../src/core/tombstone.ts';
import { BOOT, HOST_ID, instant, START } from './helpers.ts';

/** After a while, with a code; by default a signal ends a process at once. */
export type Reaction = 'ignores' | { readonly afterMs: number; readonly code: number };

export interface ChildScript {
  /** It ends by itself this long after each start. */
  readonly endsAfterMs?: number;
  readonly code?: number;
  /** By signal number. */
  readonly on?: Readonly<Record<number, Reaction>>;
  /** Others of its group outlive it: until KILL, for so long after its end, or even KILL (a zombie that nobody reaps). */
  readonly leaves?: 'untilKilled' | 'undead' | number;
  /** It cannot be started. */
  readonly errno?: string;
}

export interface LifeOptions {
  readonly config: MemberConfig;
  readonly child?: ChildScript;
  /** What the first look at the graveyard finds, at the start; undefined: it is not looked at. */
  readonly peers?: readonly PeerView[] | undefined;
  /** What comes before `booted`: init's queue. */
  readonly queued?: readonly EventOf[];
  readonly observe?: ((step: Step) => void) | undefined;
}

/** One reduction. */
export interface Step {
  readonly before: State;
  readonly event: Event;
  readonly after: State;
  readonly effects: readonly Effect[];
  readonly wakeAtMs: number | undefined;
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
export type EventOf = DistributiveOmit<Event, 'at'>;
interface Due {
  readonly atMs: number;
  readonly event: EventOf;
}
export interface Done {
  /** Milliseconds since the container's start. */
  readonly atMs: number;
  readonly effect: Effect;
}

export class Life {
  readonly config: MemberConfig;
  readonly #script: ChildScript;
  readonly #observe: LifeOptions['observe'];
  state: State;
  nowMs = START;
  wakeAtMs: number | undefined;
  done: readonly Done[] = [];
  #due: readonly Due[] = [];
  /** The stop signals that the host may pass on by itself. */
  #once: { readonly id: number; readonly table: Readonly<Record<number, number>> } = { id: 0, table: {} };

  constructor(options: LifeOptions, from?: Life) {
    const { config, child = {}, peers, queued = [], observe } = options;
    this.config = config;
    this.#script = child;
    this.#observe = observe;
    const origin = { hostId: HOST_ID, bootId: BOOT, startedAtMs: START, now: instant(START), solo: config.solo };
    this.state = from?.state ?? initialState(origin);
    if (from !== undefined) {
      this.nowMs = from.nowMs;
      this.wakeAtMs = from.wakeAtMs;
      this.done = from.done;
      this.#due = from.#due;
      this.#once = from.#once;
      return;
    }
    for (const event of queued) this.feed(event);
    this.feed({ type: 'booted' });
    if (peers !== undefined) this.see(...peers);
  }

  /** The same life from here on, twice. */
  fork(): Life {
    return new Life({ config: this.config, child: this.#script, observe: this.#observe }, this);
  }

  /** One event now, and all that follows from it without time passing. */
  feed(event: EventOf): this {
    this.#step({ ...event, at: instant(this.nowMs) } as Event);
    return this.pass(0);
  }

  signal(signal: number, from: { readonly terminal?: boolean } = {}): this {
    const as = this.#once.table[signal];
    if (as === undefined || this.state.child.is !== 'alive')
      return this.feed({ type: 'signalReceived', signal, senderPid: 0, fromTerminal: from.terminal ?? false });
    // As a host does: the child first, then word of it.
    const { id } = this.#once;
    this.#once = { id, table: {} };
    this.done = [...this.done, { atMs: this.nowMs - START, effect: { type: 'signalChild', id, signal: as } }];
    this.#strike(id, as);
    return this.feed({ type: 'signalForwarded', signal, as, senderPid: 0 });
  }

  see(...peers: readonly PeerView[]): this {
    return this.feed({ type: 'peersSeen', peers });
  }

  /** The child ends by itself, now. */
  endChild(code: number): this {
    const { child } = this.state;
    if (child.is !== 'alive') throw new Error(`no child is alive to end: ${child.is}`);
    this.#end(child.id, { code, signal: undefined }, this.nowMs);
    return this.pass(0);
  }

  pass(ms: number): this {
    const untilMs = this.nowMs + ms;
    for (let turn = 0; turn < 10_000; turn += 1) {
      const next = this.#due[0];
      const dueMs = this.nextMs ?? Number.POSITIVE_INFINITY;
      if (dueMs > untilMs) {
        this.nowMs = untilMs;
        return this;
      }
      this.nowMs = dueMs;
      if (next?.atMs === dueMs) {
        this.#due = this.#due.slice(1);
        this.#step({ ...next.event, at: instant(dueMs) } as Event);
      } else this.#step({ type: 'ticked', at: instant(dueMs) });
    }
    throw new Error('this life does not come to rest');
  }

  /** Until the container has ended; fails when it does not within so long. */
  passUntilGone(mostMs = 300_000): this {
    const endMs = this.nowMs + mostMs;
    while (this.exitCode === undefined) {
      const dueMs = this.nextMs ?? endMs + 1;
      assert.ok(dueMs <= endMs, `not gone after ${mostMs} ms: ${this.state.phase}`);
      this.pass(dueMs - this.nowMs);
    }
    return this;
  }

  /** When something is next to happen by itself; undefined: nothing ever. */
  get nextMs(): number | undefined {
    const moments = [this.#due[0]?.atMs, this.wakeAtMs].filter((atMs) => atMs !== undefined);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  get exits(): readonly { readonly atMs: number; readonly code: number }[] {
    return this.done.flatMap(({ atMs, effect }) =>
      effect.type === 'exitContainer' ? [{ atMs, code: effect.code }] : [],
    );
  }
  get exitCode(): number | undefined {
    return this.exits[0]?.code;
  }
  get exitedAtMs(): number | undefined {
    return this.exits[0]?.atMs;
  }
  /** The times of all starts. */
  get spawns(): readonly number[] {
    return this.done.flatMap(({ atMs, effect }) => (effect.type === 'spawnChild' ? [atMs] : []));
  }
  /** `[when, number]` of all signals to the child. */
  get signals(): readonly (readonly [number, number])[] {
    return this.done.flatMap(({ atMs, effect }) =>
      effect.type === 'signalChild' ? [[atMs, effect.signal] as const] : [],
    );
  }
  get logs(): readonly string[] {
    return this.done.flatMap(({ effect }) => (effect.type === 'log' ? [`${effect.level}: ${effect.message}`] : []));
  }
  get phase(): string {
    return this.state.phase;
  }
  get tombstone(): Tombstone {
    return tombstoneOf(this.config, this.state);
  }
  get deadlineMs(): number | undefined {
    return this.state.deadline === undefined ? undefined : this.state.deadline.atMs - START;
  }

  #step(event: Event): void {
    const before = this.state;
    const { state, effects, wakeAtMs } = reduce(this.config, before, event);
    assert.ok(wakeAtMs === undefined || wakeAtMs > state.now.mono, 'a moment to wake that has passed already');
    this.state = state;
    this.wakeAtMs = wakeAtMs;
    this.done = [...this.done, ...effects.map((effect) => ({ atMs: this.nowMs - START, effect }))];
    for (const effect of effects) this.#obey(effect);
    this.#observe?.({ before, event, after: state, effects, wakeAtMs });
  }

  /** What the host would do. */
  #obey(effect: Effect): void {
    if (effect.type === 'spawnChild') {
      const { errno, endsAfterMs, code = 0 } = this.#script;
      const { id } = effect;
      if (errno !== undefined) return this.#later(0, { type: 'childSpawnFailed', id, errno });
      this.#later(0, { type: 'childSpawned', id, pid: 100 + id });
      if (endsAfterMs !== undefined) this.#end(id, { code, signal: undefined }, this.nowMs + endsAfterMs);
    }
    if (effect.type === 'forwardStopOnce') this.#once = effect;
    if (effect.type === 'signalChild') this.#strike(effect.id, effect.signal);
  }

  #strike(id: number, signal: number): void {
    if (signal === SIGKILL) {
      this.#end(id, { code: undefined, signal }, this.nowMs);
      this.#due = this.#due.filter(({ event }) => event.type !== 'groupEmptied' || event.id !== id);
      if (this.#script.leaves !== 'undead') this.#later(0, { type: 'groupEmptied', id, strays: 0 });
      return;
    }
    const reaction = this.#script.on?.[signal];
    if (reaction === 'ignores' || (reaction === undefined && HARMLESS.has(signal))) return;
    if (reaction === undefined) return this.#end(id, { code: undefined, signal }, this.nowMs);
    this.#end(id, { code: reaction.code, signal: undefined }, this.nowMs + reaction.afterMs);
  }

  /** The earliest end counts: what was to come later of the same child does not come. */
  #end(id: number, exit: ChildExit, atMs: number): void {
    const { child } = this.state;
    if (child.is === 'remnant' && child.id === id) return;
    const isExit = ({ event }: Due): boolean => event.type === 'childExited' && event.id === id;
    if (this.#due.some((due) => isExit(due) && due.atMs <= atMs)) return;
    const isOfIt = (due: Due): boolean => isExit(due) || (due.event.type === 'groupEmptied' && due.event.id === id);
    this.#due = this.#due.filter((due) => !isOfIt(due));
    this.#later(atMs - this.nowMs, { type: 'childExited', id, exit, core: false, oom: false });
    const { leaves = 0 } = this.#script;
    const isKilled = exit.signal === SIGKILL;
    if (leaves === 'undead') return;
    if (leaves !== 'untilKilled' || isKilled)
      this.#later(atMs - this.nowMs + (leaves === 'untilKilled' || isKilled ? 0 : leaves), {
        type: 'groupEmptied',
        id,
        strays: 0,
      });
  }

  #later(ms: number, event: EventOf): void {
    const due = [...this.#due, { atMs: this.nowMs + ms, event }];
    this.#due = due.sort((a, b) => a.atMs - b.atMs);
  }
}

/** What by default does not end a process, signal(7). */
const HARMLESS: ReadonlySet<number> = new Set([SIGCHLD, SIGCONT, SIGWINCH, 23]);
