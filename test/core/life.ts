/** One life of a member on a fake clock, with a scripted host that carries out its effects. */

import assert from 'node:assert/strict';
import type { MemberConfig } from '../../src/core/config.ts';
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { reduce } from '../../src/core/lifecycle/lifecycle.ts';
import { tombstoneOf } from '../../src/core/lifecycle/stop/record.ts';
import { ordersOf } from '../../src/core/orders.ts';
import { SIGKILL, signalName } from '../../src/core/signals.ts';
import type { Effect, Event } from '../../src/core/state/events.ts';
import type { PeerView } from '../../src/core/state/peer.ts';
import { initialState, type State } from '../../src/core/state/state.ts';
import { readMemo, writeMemo } from '../../src/runtime/memo.ts';
import { alive, BOOT, HOST_ID, instant, mainConfig, START, sidecarConfig } from './helpers.ts';
import { type ChildScript, type EventOf, nameOf, ScriptedHost } from './host.ts';

export type { ChildScript, EventOf, Reaction } from './host.ts';

export interface LifeOptions {
  readonly config: MemberConfig;
  readonly child?: ChildScript;
  /** What the first look at the graveyard finds, at the start; undefined: it is not looked at. */
  readonly peers?: readonly PeerView[] | undefined;
  /** What the graveyard says of the init containers; undefined: nothing. */
  readonly generation?: string;
  /** What comes before `booted`: init's queue. */
  readonly queued?: readonly EventOf[];
  readonly observe?: ((step: Step) => void) | undefined;
}

export function main(change: Partial<MemberConfig> = {}, child: ChildScript = {}): LifeOptions {
  return { config: mainConfig(change), child, peers: [] };
}

/** A sidecar beside a living main, `work`. */
export function sidecar(change: Partial<MemberConfig> = {}, child: ChildScript = {}): LifeOptions {
  return { config: sidecarConfig(change), child, peers: [alive('work')] };
}

export interface Step {
  readonly before: State;
  readonly event: Event;
  readonly after: State;
  readonly effects: readonly Effect[];
  readonly wakeAtMs: number | undefined;
}

export interface Done {
  /** Milliseconds since the container's start. */
  readonly atMs: number;
  readonly effect: Effect;
}

type Moments<T> = readonly (readonly [number, T])[];

export class Life {
  readonly config: MemberConfig;
  readonly host: ScriptedHost;
  readonly #observe: LifeOptions['observe'];
  state: State;
  nowMs = START;
  wakeAtMs: number | undefined;
  done: readonly Done[] = [];
  exits: readonly { readonly atMs: number; readonly code: number }[] = [];

  constructor(options: LifeOptions, from?: Life) {
    const { config, child = {}, peers, generation, queued = [], observe } = options;
    this.config = config;
    this.host = from?.host.fork() ?? new ScriptedHost(child);
    this.#observe = observe;
    const origin = { hostId: HOST_ID, bootId: BOOT, startedAtMs: START, now: instant(START), solo: config.solo };
    this.state = from?.state ?? initialState(origin);
    if (from !== undefined) {
      this.nowMs = from.nowMs;
      this.wakeAtMs = from.wakeAtMs;
      this.done = from.done;
      this.exits = from.exits;
      return;
    }
    for (const event of queued) this.feed(event);
    this.feed({ type: 'booted' });
    if (generation !== undefined) this.feed({ type: 'generationRead', generation });
    if (peers !== undefined) this.see(...peers);
  }

  fork(): Life {
    return new Life({ config: this.config, observe: this.#observe }, this);
  }

  /** One event now, and all that follows from it without time passing. */
  feed(event: EventOf): this {
    this.#step({ ...event, at: instant(this.nowMs) } as Event);
    return this.pass(0);
  }

  /** The signal comes from outside of the container unless `from` says otherwise. */
  signal(signal: number, from: { readonly terminal?: boolean; readonly pid?: number } = {}): this {
    const { id, rows } = ordersOf(this.config, this.state);
    const first = rows.find((row) => row.when === 'first');
    const as = first?.table[signal];
    if (as === undefined || !this.host.passOn(id, as, this.nowMs))
      return this.feed({ type: 'signal', signal, senderPid: from.pid ?? 0, fromTerminal: from.terminal ?? false });
    this.done = [...this.done, { atMs: this.nowMs - START, effect: { type: 'kill', id, signal: as } }];
    return this.feed({ type: 'ordered', id, row: 'first', signal, as, senderPid: 0, receiverPid: 100 + id });
  }

  see(...peers: readonly PeerView[]): this {
    return this.feed({ type: 'peersSeen', peers });
  }

  askToStop(graceMs?: number, among?: readonly string[]): this {
    return this.feed({ type: 'stopAsked', graceMs, among });
  }

  /** An unknown sender ends the child by a signal. */
  interruptChild(signal: number): this {
    return this.#endChild({ code: undefined, signal });
  }

  endChild(code: number): this {
    return this.#endChild({ code, signal: undefined });
  }

  /** An unknown sender, or the kernel for want of memory, KILLs the child. */
  killChild({ oom }: { readonly oom: boolean }): this {
    return this.#endChild({ code: undefined, signal: SIGKILL }, oom);
  }

  /** The supervisor is killed; its memo is all that is left of it. `booted` brings the next one. */
  loseSupervisor(): this {
    const memo = readMemo(writeMemo({ state: this.state, isHeld: true }), HOST_ID);
    assert.ok(memo !== undefined);
    this.state = memo.state;
    this.wakeAtMs = undefined;
    this.host.loseSupervisor();
    return this;
  }

  pass(ms: number): this {
    const untilMs = this.nowMs + ms;
    for (let turn = 0; turn < 10_000; turn += 1) {
      const dueMs = this.nextMs ?? Number.POSITIVE_INFINITY;
      if (dueMs > untilMs) {
        this.nowMs = untilMs;
        return this;
      }
      this.nowMs = dueMs;
      const next = this.host.nextMs === dueMs ? this.host.take() : undefined;
      this.#step({ ...(next ?? { type: 'ticked' }), at: instant(dueMs) } as Event);
    }
    throw new Error('this life does not come to rest');
  }

  /** Passes time until the container has ended. Fails if it does not end within `mostMs`. */
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
    const moments = [this.host.nextMs, this.wakeAtMs].filter((atMs) => atMs !== undefined);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  get exitCode(): number | undefined {
    return this.exits[0]?.code;
  }
  get exitedAtMs(): number | undefined {
    return this.exits[0]?.atMs;
  }
  get spawns(): readonly number[] {
    return this.done.flatMap(({ atMs, effect }) => (effect.type === 'spawn' ? [atMs] : []));
  }
  /** `[when, number]` of all signals to the child and its roots. */
  get signals(): Moments<number> {
    return this.done.flatMap(({ atMs, effect }) =>
      effect.type === 'kill' || effect.type === 'stop' ? [[atMs, effect.signal] as const] : [],
    );
  }
  /** The same as text: `0 TERM, 9500 KILL`. */
  get sent(): string {
    return this.signals.map(([atMs, signal]) => `${atMs} ${signalName(signal).slice(3)}`).join(', ');
  }
  /** The rungs, with the times at which untold processes get them. */
  get rungs(): readonly string[] {
    const at = (ms: number | undefined): string => (ms === undefined ? '-' : `${Math.round(ms - START)}`);
    return this.done.flatMap(({ effect }) =>
      effect.type === 'stop' ? [`${signalName(effect.signal).slice(3)} ${at(effect.lateMs)} ${at(effect.lastMs)}`] : [],
    );
  }
  /** `[when, name]` of all actions that were begun. */
  get runs(): Moments<string> {
    return this.done.flatMap(({ atMs, effect }) =>
      effect.type === 'startTask' ? [[atMs, nameOf(effect.action)] as const] : [],
    );
  }
  runsOf(name: string): readonly number[] {
    return this.runs.flatMap(([atMs, other]) => (other === name ? [atMs] : []));
  }
  /** When the core ordered that action to end. */
  endsOf(name: string): readonly number[] {
    const ids = this.done.flatMap(({ effect }) =>
      effect.type === 'startTask' && nameOf(effect.action) === name ? [effect.id] : [],
    );
    return this.done.flatMap(({ atMs, effect }) =>
      effect.type === 'endTask' && ids.includes(effect.id) ? [atMs] : [],
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

  #endChild(exit: { readonly code: number | undefined; readonly signal: number | undefined }, oom = false): this {
    const { child } = this.state;
    if (child.is !== 'alive') throw new Error(`no child is alive to end: ${child.is}`);
    this.host.end(child.id, exit, this.nowMs, oom);
    return this.pass(0);
  }

  #step(event: Event): void {
    const before = this.state;
    const { state, effects, wakeAtMs } = reduce(this.config, before, event);
    assert.ok(wakeAtMs === undefined || wakeAtMs > state.now.mono, 'a moment to wake that has passed already');
    this.state = state;
    this.wakeAtMs = wakeAtMs;
    const atMs = this.nowMs - START;
    this.done = [...this.done, ...effects.map((effect) => ({ atMs, effect }))];
    for (const effect of effects) if (effect.type === 'exit') this.exits = [...this.exits, { atMs, code: effect.code }];
    for (const effect of effects) this.host.obey(effect, this.nowMs);
    this.#observe?.({ before, event, after: state, effects, wakeAtMs });
  }
}
