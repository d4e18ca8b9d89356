/**
 * A supervisor: the real core between a simulated init and a simulated graveyard. It does in virtual time, and in the
 * same order, what `src/runtime/supervisor.ts` and `membership.ts` do: commit to init, write the tombstone, do the
 * rest. It may be killed between any two of these.
 */

import { formatTombstone, type Tombstone } from '../../src/core/format/tombstone.ts';
import { reduce } from '../../src/core/lifecycle/lifecycle.ts';
import { endOf } from '../../src/core/lifecycle/prepared/prepared-ends.ts';
import { isIdle, isUnchanged, type Known } from '../../src/core/lifecycle/prepared/reflexes.ts';
import { maxWritingMs } from '../../src/core/lifecycle/stop/quitting.ts';
import { tombstoneOf } from '../../src/core/lifecycle/stop/record.ts';
import { leftoversOfOtherSessions } from '../../src/core/pod/standing.ts';
import type { Effect, Event } from '../../src/core/state/events.ts';
import type { PeerView } from '../../src/core/state/peer.ts';
import { initialState, type RestartAsk, type State } from '../../src/core/state/state.ts';
import { type Instant, instantAt } from '../../src/core/time.ts';
import type { HostCommand, WatchCommand } from '../../src/runtime/host/host.ts';
import { Membership, type MembershipEvents } from '../../src/runtime/membership.ts';
import { RESTED, type Rest, readMemo, writeMemo } from '../../src/runtime/memo.ts';
import { Sleeper } from '../../src/runtime/sleep/sleeper.ts';
import { withWake } from '../../src/runtime/sleep/why-awake.ts';
import { LATE_MS, MOST, mustRescanFirst, nextTurn, withTimeout } from '../../src/runtime/timeouts.ts';
import type { EventOf } from '../core/host.ts';
import { SimAccess } from './access.ts';
import { type Actor, actor, type Entry, freeze } from './agenda.ts';
import { SimClock } from './clock.ts';
import type { Container, SimMemo } from './container.ts';
import { isSameRecord } from './records.ts';
import type { EndWritten } from './reflexes.ts';
import type { CrashPoint } from './scenario.ts';
import { SeenTraffic } from './seen-traffic.ts';
import type { World } from './world.ts';

const SILENT = { say: () => {}, flush: async () => {}, isWriting: false };

export class Brain {
  readonly actor: Actor;
  readonly access: SimAccess;
  state: State;
  /** It is to die at this point, after so many more events. */
  doom: { point: CrashPoint; events: number; hangs?: boolean } | undefined;
  readonly #world: World;
  readonly #container: Container;
  readonly #clock: SimClock;
  readonly #membership: Membership;
  readonly #wasWoken: boolean;
  #isLooking = false;
  readonly #events: MembershipEvents = {
    listen: () => this.#listen(),
    watch: (command) => this.#orderWatch(command),
    peersSeen: (peers) => this.#meet(peers),
    // The simulator hands requests to the core itself.
    stopAsked: () => {},
  };
  #isHeld: boolean;
  #seq = 0;
  #isAwakening = false;
  #published: State | undefined;
  #timer: Entry | undefined;
  #wakesAtMs: number | undefined;
  /** The moment that init has from the last commit. */
  #dueMs: number | undefined;
  #isLeaving = false;
  /** Init has written what follows now. */
  #isWrittenByInit = false;
  readonly #claimed = Promise.withResolvers<void>();
  readonly #traffic: SeenTraffic;
  #rest: Rest;
  readonly #sleeper: Sleeper | undefined;

  constructor(world: World, container: Container, wasWoken: boolean) {
    this.#world = world;
    this.#container = container;
    this.actor = actor(container.actor);
    this.#clock = new SimClock(world.agenda, this.actor, () => world.wallOf(container.member));
    const { config } = container.member;
    const { hostId, startedAtMs, memo } = container;
    const resumed = memo === undefined ? undefined : readMemo(writeMemo(memo), hostId);
    if (memo !== undefined && resumed === undefined) throw new Error('a memo that cannot be read');
    const origin = { hostId, bootId: world.bootId, startedAtMs, now: this.#now(), solo: config.solo };
    this.state = resumed?.state ?? initialState(origin);
    this.#isHeld = resumed?.isHeld ?? false;
    this.#rest = resumed?.rest ?? RESTED;
    if (wasWoken) this.#rest = { ...this.#rest, wakes: withWake(this.#rest.wakes, world.agenda.monoMs) };
    const { sleepAfterMs } = container.member;
    this.#sleeper = sleepAfterMs === undefined ? undefined : this.#makeSleeper(sleepAfterMs);
    const onWritten = (tombstone: Tombstone): void => {
      container.writtenAtMs ??= world.agenda.nowMs;
      world.laws.onTombstoneWritten(container, tombstone);
    };
    this.#traffic = new SeenTraffic(world, this.actor, (event) =>
      this.#dispatch({ ...event, at: this.#now() } as Event, undefined),
    );
    this.access = new SimAccess(world.parts, this.actor, onWritten);
    const here = { dir: this.access.dir, volume: this.access, clock: this.#clock, makes: true };
    const { held: heldBefore } = this.#rest;
    this.#wasWoken = wasWoken;
    this.#membership = new Membership({ ...here, member: config, log: SILENT, heldBefore, wasWoken });
  }

  open(): void {
    this.#hearAll();
    if (this.actor.isDead) return;
    this.#dispatch({ type: 'booted', at: this.#now() }, undefined);
    this.#after(3, () => void this.#begin());
  }

  die(): void {
    this.actor.isDead = true;
    this.access.stop();
  }

  /** Init has something to tell. */
  awaken(): void {
    if (this.#isAwakening) return;
    this.#isAwakening = true;
    this.#after(4, () => {
      this.#isAwakening = false;
      this.#hearAll();
    });
  }

  /** A supervisor that is lost dies, or hangs, right after its next commit. */
  doomByLoss(): void {
    const { loss } = this.#container.member;
    if (loss !== undefined) this.doom = { point: 'before the write', events: 1, hangs: loss === 'hangs' };
  }

  /** For ever. */
  get isHanging(): boolean {
    return this.actor.frozenUntilMs === Number.POSITIVE_INFINITY;
  }

  get #isAble(): boolean {
    return !this.actor.isDead && !this.isHanging;
  }

  hearOfAction(event: EventOf & { type: 'taskEnded' }): void {
    const now = this.#now();
    const untilMs = this.state.tasks.find(({ id }) => id === event.id)?.untilMs ?? now.mono;
    this.#dispatch({ ...event, at: instantAt(now, Math.min(now.mono, untilMs)) }, undefined);
  }

  /** False: it cannot take requests yet. */
  askToStop(atMs: number, graceMs: number | undefined, among: readonly string[] | undefined): boolean {
    if (!this.#isLooking) return false;
    const now = this.#now();
    this.#dispatch({ type: 'stopAsked', at: instantAt(now, Math.min(atMs, now.mono)), graceMs, among }, undefined);
    return true;
  }

  /** False: it cannot take requests yet. */
  askToRestart(ask: RestartAsk): boolean {
    if (!this.#isLooking) return false;
    this.#dispatch({ type: 'restartAsked', at: this.#now(), ask }, undefined);
    // It is removed only then.
    return !this.actor.isDead;
  }

  #hearAll(): void {
    for (const queued of this.#container.queue) {
      if (queued.seq <= this.#seq) continue;
      this.#seq = queued.seq;
      const now = this.#now();
      const at = instantAt(now, Math.min(queued.atMs, now.mono));
      const { event } = queued;
      if (event.type === 'endWritten') this.#hearEndWritten(event, queued.seq);
      else this.#dispatch({ ...event, at } as Event, queued.seq);
      if (this.actor.isDead) return;
    }
  }

  /** Byte for byte what would have been written here, unless more has happened here by now. */
  #hearEndWritten({ id, pid, ended, text, from }: EndWritten, ack: number): void {
    const isKnown = isUnchanged(from, { state: this.state, wakeAtMs: this.#wakesAtMs });
    this.#isWrittenByInit = isKnown && this.state.now.mono <= ended.at.mono;
    const isAsLeft = this.#isWrittenByInit;
    this.#dispatchAll(endOf({ id, pid }, ended, true), ack);
    this.#isWrittenByInit = false;
    if (this.actor.isDead || !isAsLeft) return;
    this.#world.judges('reflex');
    const own = formatTombstone(tombstoneOf(this.#container.member.config, this.state));
    if (own !== text)
      this.#world.laws.wrongReflex(this.#container, `init has written ${text.trimEnd()}, not ${own.trimEnd()}`);
  }

  #dispatch(event: Event, ack: number | undefined): void {
    this.#dispatchAll([event], ack);
  }

  #dispatchAll(events: readonly Event[], ack: number | undefined): void {
    if (!this.#isAble || this.#dies('before the commit')) return;
    const { world, container } = { world: this.#world, container: this.#container };
    const effects: Effect[] = [];
    let wakeAtMs: number | undefined;
    for (const event of events) {
      const before = this.state;
      const reduction = reduce(container.member.config, before, event);
      world.reductions += 1;
      this.state = reduction.state;
      world.laws.stepped(container, { before, event, after: reduction.state, ...reduction });
      wakeAtMs = reduction.wakeAtMs;
      effects.push(...reduction.effects);
    }
    const { state } = this;
    if (!this.#isLeaving) this.#dueMs = wakeAtMs;
    container.commit(ack, this.#memo, effects, this.#dueMs);
    if (this.#dies('before the write')) return;
    this.#publish();
    this.#leaveReflexes({ state, wakeAtMs });
    for (const effect of effects) {
      this.#traffic.obey(effect);
      if (effect.type === 'exit') void this.#leave(effect.code);
    }
    this.#wakeAt(wakeAtMs);
    this.#sleeper?.stir(wakeAtMs);
    this.#dies('after');
  }

  /** Once the tombstone is written and nothing else has happened. */
  #leaveReflexes(known: Known): void {
    if (!isIdle(known.state)) return;
    this.#after(this.#world.parts.latencyMs + 2, async () => {
      const path = await this.#membership.whereWritten();
      if (path !== undefined && this.#isAble && isUnchanged(known, { state: this.state, wakeAtMs: this.#wakesAtMs }))
        this.#container.reflexes.leave(known);
    });
  }

  #dies(point: CrashPoint): boolean {
    const { doom } = this;
    if (doom === undefined || doom.point !== point) return false;
    doom.events -= 1;
    if (doom.events > 0) return false;
    if (doom.hangs === true) {
      this.#world.count('supervisor that hangs for ever');
      freeze(this.actor, Number.POSITIVE_INFINITY);
      this.#container.becomeLost();
      return true;
    }
    this.#world.count(`supervisor killed ${point}`);
    this.#container.loseBrain();
    return true;
  }

  /** Like `Supervisor.start`, from the commit of `booted` on. */
  async #begin(): Promise<void> {
    this.#claimed.resolve(this.#claim());
    await withTimeout(this.#claimed.promise, MOST.claimingMs, this.#clock.timers);
    this.#isLooking = true;
    if (!this.#isLeaving && !this.#container.member.config.solo) {
      await this.#membership.watch(this.#events);
    }
    if (!this.#isLeaving) this.#sleeper?.open();
  }

  async #claim(): Promise<void> {
    const isUnread = this.state.generation === undefined && !this.#wasWoken;
    const generation = isUnread ? await this.#membership.readGeneration() : undefined;
    if (generation !== undefined) this.#dispatch({ type: 'generationRead', at: this.#now(), generation }, undefined);
    this.#publish();
    await this.#membership.claim(this.#events, this.#isHeld);
  }

  #listen(): void {
    if (!this.#isAble) return;
    this.#isHeld = true;
    this.#container.commit(undefined, this.#memo, [], this.#dueMs);
    this.#container.listen();
  }

  /** Init watches at once, and answers later. */
  #orderWatch({ number, quiet, sockets }: WatchCommand): void {
    if (!this.#isAble) return;
    const { volume, dice } = this.#world;
    const { isThere } = volume;
    this.#container.commit(undefined, this.#memo, [], this.#dueMs);
    this.#container.watch(quiet, sockets.map(memberAt));
    if (isThere) this.access.hear((names) => this.#membership.hear({ type: 'changed', names }));
    const errno = isThere ? undefined : 'ENOENT';
    this.#world.agenda.in(dice.short(8), this.actor, () => this.#membership.hear({ type: 'watching', number, errno }));
  }

  #meet(peers: readonly PeerView[]): void {
    const isFirst = this.state.peers === undefined;
    this.#dispatch({ type: 'peersSeen', at: this.#now(), peers }, undefined);
    if (!isFirst || this.actor.isDead) return;
    const leftovers = leftoversOfOtherSessions(this.#container.member.config, this.state);
    if (leftovers.length === 0) return;
    this.#world.count('leftover cleared');
    void this.#membership.clear(leftovers);
  }

  /** No member reads the history, which is most of the work of laying out and parsing: only some runs write it. */
  #publish(): void {
    if (isSameRecord(this.state, this.#published)) return;
    this.#published = this.state;
    const whole = tombstoneOf(this.#container.member.config, this.state);
    const { History: _history, ...rest } = whole;
    const tombstone = this.#world.parts.hasHistory ? whole : rest;
    const written = this.#isWrittenByInit ? formatTombstone(tombstone) : undefined;
    this.#membership.publish(tombstone, written);
  }

  get #memo(): SimMemo {
    return { state: this.state, isHeld: this.#isHeld, rest: this.#rest };
  }

  #makeSleeper(afterMs: number): Sleeper {
    const { config } = this.#container.member;
    return new Sleeper({
      member: config,
      afterMs,
      log: SILENT,
      clock: this.#clock,
      state: () => (this.#isLeaving ? undefined : this.state),
      rest: () => this.#rest,
      membership: () => (config.solo ? undefined : this.#membership),
      // The simulated init prepares the stop itself.
      prepareStop: () => [],
      commit: (commands, held = this.#rest.held) => this.#commitForSleep(commands, held),
    });
  }

  /** A supervisor that hangs or is dead does nothing more in the midst of an attempt either. */
  #commitForSleep(commands: readonly HostCommand[], held: Rest['held']): void {
    if (!this.#isAble) return;
    this.#rest = { ...this.#rest, held };
    this.#container.commit(undefined, this.#memo, [], this.#dueMs);
    if (commands.some(({ type }) => type === 'sleep')) this.#container.sleep();
  }

  #wakeAt(wakeAtMs: number | undefined): void {
    const { agenda, dice } = this.#world;
    agenda.cancel(this.#timer);
    this.#wakesAtMs = wakeAtMs;
    if (wakeAtMs === undefined || this.#isLeaving) return;
    const atMs = Math.ceil(wakeAtMs + agenda.bootAtMs) + dice.short(6);
    this.#timer = agenda.at(atMs, this.actor, () => void this.#onTimer(wakeAtMs));
  }

  /** The world is looked at before anything is done that cannot be taken back. */
  async #onTimer(dueMs: number): Promise<void> {
    const { timers } = this.#clock;
    const now = this.#now().mono;
    const isBlind = mustRescanFirst(this.#container.member.config, this.state, now);
    const isLong = isBlind || now - dueMs > LATE_MS;
    if (isLong || this.state.stop !== undefined) {
      const rescanned = this.#membership.rescan();
      await withTimeout(rescanned, isLong ? MOST.lookingMs : MOST.glancingMs, timers);
      await nextTurn(timers);
    }
    this.#dispatch({ type: 'ticked', at: this.#now() }, undefined);
  }

  async #leave(code: number): Promise<void> {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#sleeper?.close();
    this.#world.agenda.cancel(this.#timer);
    const written = this.#claimed.promise.then(() => this.#membership.settle());
    await withTimeout(written, maxWritingMs(this.state.deadline, this.#now().mono), this.#clock.timers);
    this.#after(4, () => this.#container.end(code, 'left'));
  }

  #after(mostMs: number, does: () => unknown): void {
    this.#world.agenda.in(this.#world.dice.short(mostMs), this.actor, does);
  }

  #now(): Instant {
    return this.#clock.now();
  }
}

function memberAt(socket: string): string {
  return socket.replace(/^.*\/\.(.*)\.sock$/, '$1');
}
