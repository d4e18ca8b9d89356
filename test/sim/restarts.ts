/**
 * What must come of restarts in place.
 *
 * Law "all end before any starts": no command is started again while one lives that the restart is to end.
 * Law "gates": a command is started again only after its gates have opened again.
 * Law "all live again": all commands live after a restart that nothing interrupted.
 */
import { isRequestFor } from '../../src/core/format/stop-request.ts';
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { isRestarting, takesPart } from '../../src/core/pod/restart.ts';
import type { RestartAsk, State } from '../../src/core/state/state.ts';
import type { Step } from '../core/life.ts';
import { SEEN_LATE_MS } from './alone.ts';
import type { Container } from './container.ts';
import { RESTARTED_MS } from './draw-more.ts';
import { Judge } from './judge.ts';
import { SETTLING_MS } from './on-record.ts';
import { isCommandAlive, isOf } from './truth.ts';
import type { Member } from './world.ts';

/** The asker where no member has asked by itself. */
export const BY_FAULT = 'sexton restart';

interface Asked {
  readonly ask: RestartAsk;
  readonly atMs: number;
  /** The containers that ran then, and the last command that each had started. */
  readonly before: Map<Container, number>;
  /** Until when the supervisor of each hung then. */
  readonly deafUntilMs: ReadonlyMap<Container, number>;
}

export class Restarts extends Judge {
  readonly #asked: Asked[] = [];
  /** Since when each was last started, or healthy, as it recorded itself. */
  readonly #since = new Map<string, number>();
  readonly #judged = new Set<Asked>();
  /** The latest request that each has gone into a restart for. */
  readonly #rounds = new Map<Container, number>();
  /** The restarts that tombstones have told of: by which member, and since when. Another one may interrupt that. */
  readonly #told: { readonly by: string; readonly requestedMs: number; readonly atMs: number }[] = [];

  get isSomebodyDue(): boolean {
    // A main may restart the pod for ever.
    return this.#asked.some((asked) => asked.ask.by === BY_FAULT && !this.#judged.has(asked));
  }

  /** By `sexton restart`, or by a member itself. */
  asked(ask: RestartAsk, of: readonly Container[] = this.world.containers): void {
    const { agenda, count } = this.world;
    const running = of.filter(({ isRunning, member }) => isRunning && takesPart(ask.among, member.name));
    count(`restart asked for: ${ask.among === undefined ? 'the pod' : 'some'}`);
    if (ask.byRule !== undefined) count('restart asked for: by a rule');
    // A member counts from the event that made it ask, which may be heard a little later.
    const askedAtMs = Math.min(agenda.nowMs, ask.requestedMs + agenda.bootAtMs);
    const before = new Map(running.map((it) => [it, it.lastSpawned]));
    const deafUntilMs = new Map(running.map((it) => [it, it.brain?.actor.frozenUntilMs ?? 0]));
    const asked = { ask, atMs: askedAtMs, before, deafUntilMs };
    this.#asked.push(asked);
    const atMs = Math.max(agenda.nowMs, this.world.calmAtMs) + RESTARTED_MS - 5_000;
    agenda.at(atMs, undefined, () => this.#judge(asked));
  }

  /** These files are deleted: whose request is among them may never hear of it. */
  lost(files: readonly string[]): void {
    for (const { ask, before } of this.#asked)
      for (const container of before.keys()) {
        if (ask.by !== BY_FAULT || !files.some((file) => isRequestFor(container.member.name, file))) continue;
        this.world.count('excused: a request for a restart that was deleted before it was read');
        before.delete(container);
      }
  }

  written({ Name: by, RestartRequested: requestedMs }: Tombstone): void {
    if (requestedMs === undefined || this.#told.findLast((it) => it.by === by)?.requestedMs === requestedMs) return;
    this.#told.push({ by, requestedMs, atMs: this.world.agenda.nowMs });
  }

  /** A reboot: nothing has started. */
  begin(): void {
    this.#since.clear();
  }

  /** Whether it has said so in this boot. */
  hasBeen(name: string, condition: 'started' | 'healthy'): boolean {
    return this.#since.has(`${name} ${condition}`);
  }

  isAsked({ restart }: State): boolean {
    return restart !== undefined && this.#asked.some(({ ask }) => ask.requestedMs === restart.requestedMs);
  }

  stepped(container: Container, { before, after, event }: Step): void {
    const { name } = container.member;
    const { nowMs, bootAtMs } = this.world.agenda;
    for (const condition of ['started', 'healthy'] as const)
      if (before.chronicle[condition] === undefined && after.chronicle[condition] !== undefined)
        this.#since.set(`${name} ${condition}`, nowMs);
    const isNew = after.restart !== undefined && after.restart.requestedMs !== before.restart?.requestedMs;
    // A supervisor may repeat the request of the one before, and two members may ask in one millisecond.
    const isRepeated = this.#asked.some(
      ({ ask }) => ask.requestedMs === after.restart?.requestedMs && ask.by === after.restart.by,
    );
    if (isNew && isBy(after.restart, name) && !isRepeated) {
      this.world.count('restart asked for: by a member itself');
      this.asked(after.restart);
    }
    if (isNew) this.#rounds.set(container, Math.max(after.restart.requestedMs, this.#rounds.get(container) ?? 0));
    const isJoined = event.type !== 'restartAsked' && !isBy(after.restart, name);
    if (isRestarting(after) && !isRestarting(before) && isJoined) this.world.count('restart joined');
    if ((isRestarting(after) || isNew) && after.deadline !== before.deadline) {
      const bornAtMs = Math.max(after.startedAtMs, before.restart?.againSinceMs ?? 0) + bootAtMs;
      // All requests that it may have heard of since its last restart count, also when a third one has joined.
      const heard = this.#asked.filter(({ ask }) => takesPart(ask.among, name) && !hasPassed(after, ask));
      const graces = heard.map(({ ask, atMs }) => ({ atMs: Math.max(atMs, bornAtMs), graceMs: ask.graceMs }));
      container.restarts = [...container.restarts, ...graces];
    }
    if (after.podRestarts > before.podRestarts) {
      this.world.count('restarted in place');
      container.restarts = [];
      this.#judgeEnds(container, { ...after, deadline: before.deadline });
    }
    if (isRestarting(before) && after.stop !== undefined && !isRestarting(after)) this.world.count('restart beaten');
    if (after.child.is === 'gone' && isRestarting(before) && before.child.is === 'unstarted')
      this.world.count('left in a restart');
  }

  /** Other exit codes than its last command's: gates that did not open again, or a rule that restarts all. */
  codesOf({ brain, command }: Container): readonly number[] {
    const { restart, podRestarts = 0 } = brain?.state ?? {};
    if (restart === undefined) return [];
    return [podRestarts > 0 && command?.exit !== undefined ? 125 : [], restart.byRule ?? []].flat();
  }

  /** A command of this container, not its first, is about to be started. */
  spawning(container: Container): void {
    const { member, state } = container;
    const { restart } = state ?? {};
    if (restart?.againSinceMs === undefined || restart.againSinceMs === state?.startedAtMs) return;
    if (member.config.startTimeoutAction === 'continue') return;
    if ((state?.chronicle.born ?? '') > '' && container.bornAgainFor === restart.requestedMs) return;
    container.bornAgainFor = restart.requestedMs;
    const requestedAtMs = restart.requestedMs + this.world.agenda.bootAtMs;
    for (const { name, condition, optional } of member.config.startAfter) {
      if (optional || condition === 'completed' || !takesPart(restart.among, name)) continue;
      this.world.judges('gates');
      if ((this.#since.get(`${name} ${condition}`) ?? 0) >= requestedAtMs) continue;
      if (this.#isExcused(container, name)) this.world.count('excused: started again before one that took no part');
      else this.breaks('gates', container, `started again before ${name} was ${condition} again`);
    }
  }

  /** All commands of before are over when the first starts again. */
  #judgeEnds(container: Container, { restart, deadline, startedAtMs }: State): void {
    if (restart === undefined) return;
    if (restart.requestedMs < startedAtMs)
      this.breaks('all end before any starts', container, 'it was born after the request');
    const { agenda, members } = this.world;
    const requestedAtMs = restart.requestedMs + agenda.bootAtMs;
    for (const other of members) {
      const { command } = other.container ?? {};
      if (other === container.member || command === undefined || !takesPart(restart.among, other.name)) continue;
      this.world.judges('all end before any starts');
      if (!isCommandAlive(other) || command.bornAtMs >= requestedAtMs) continue;
      if (this.#isExcused(container, other.name) || agenda.monoMs >= (deadline?.atMs ?? 0))
        this.world.count('excused: started again while one lives that could not be known of');
      else this.breaks('all end before any starts', container, `${other.name} still lives`);
    }
  }

  /** A fault, a stop of its own, or a life that was not seen yet hides one from the other. */
  #isExcused({ brain }: Container, name: string): boolean {
    const { calmAtMs, agenda, failedUntilMs } = this.world;
    const other = this.world.memberNamed(name)?.container;
    if (other === undefined || !other.isRunning || other.wasAlone || other.lostAtMs !== undefined) return true;
    if (other.state?.stop !== undefined && !isRestarting(other.state)) return true;
    const seen = brain?.state.peers?.[name];
    if (!isOf(other, seen?.tombstone) && other.ageMs < SETTLING_MS) return true;
    if (seen?.liveness === 'lost' || seen?.refused === true) return true;
    return Math.max(calmAtMs, failedUntilMs) + SETTLING_MS > agenda.nowMs;
  }

  #judge(asked: Asked): void {
    const { ask, before } = asked;
    const { kubelet, calmAtMs, agenda } = this.world;
    // Another fault has come meanwhile.
    if (agenda.nowMs - calmAtMs < RESTARTED_MS - 5_000 && !kubelet.isDeleting)
      return void agenda.at(calmAtMs + RESTARTED_MS - 5_000, undefined, () => this.#judge(asked));
    this.#judged.add(asked);
    if (ask.by !== BY_FAULT && this.#isLostWithAsker(ask)) {
      this.world.count('excused: a main that asked for a restart was gone before others could read it');
      return kubelet.endWhatIsLeft();
    }
    for (const [container, lastSpawned] of before) {
      if (kubelet.isDeleting || !container.isRunning || container.wasAlone || this.#isHeldUp(ask)) continue;
      const { brain, member, command } = container;
      const state = brain?.state;
      if (container.asked.length > 0 || state === undefined || state.child.is === 'gone') continue;
      if (state.stop !== undefined && !isRestarting(state)) continue;
      if (isRestarting(state) && (state.restart?.requestedMs ?? 0) > ask.requestedMs) continue;
      if (isRestarting(state)) {
        this.breaks('all live again', container, 'it is not started again');
        continue;
      }
      if (this.#areGatesShut(member)) continue;
      // Another restart may have passed before the member that asked for this one heard of its own event.
      const isStartedSince = container.lastSpawned > lastSpawned || (command?.bornAtMs ?? 0) > asked.atMs;
      // Its first command has started after the request: there was nothing to restart.
      if (lastSpawned === 0 && isStartedSince) continue;
      if (state.restart?.requestedMs !== ask.requestedMs && this.#isAboutToStart(member, state))
        this.world.count('excused: restarted again before it had started');
      // The latest of several that wait takes the place of the others.
      else if ((this.#rounds.get(container) ?? 0) >= ask.requestedMs && isStartedSince)
        this.world.count('lives again after a restart');
      else if (this.#isGoneBeforeItLooked(container, asked))
        this.world.count('excused: a main that asked for a restart was over before this one could look');
      else if (this.#isReplacedUnread(ask))
        this.world.count('excused: another restart replaced one that a failed volume had hidden');
      else this.breaks('all live again', container, 'it was not restarted');
      this.world.judges('all live again');
    }
    kubelet.endWhatIsLeft();
  }

  /**
   * A member asks by its tombstone alone. It could not write that, or its next container has written over it soon. Or
   * it was gone before others could read from a volume that failed.
   */
  #isLostWithAsker(ask: RestartAsk): boolean {
    const { requestedMs } = ask;
    const asker = this.#askerOf(ask);
    const told = this.#told.filter((it) => it.requestedMs === requestedMs);
    const toldByIt = told.filter(({ by }) => by === asker?.name);
    const saidMs = [requestedMs, ...toldByIt.map(({ atMs }) => atMs - this.world.agenda.bootAtMs)];
    const isNext = ({ member, startedAtMs }: Container): boolean =>
      member === asker && saidMs.some((ms) => startedAtMs > ms && startedAtMs < ms + SEEN_LATE_MS);
    const isUnread = this.#isUnreadUntil(asker?.endedAtMs || Number.POSITIVE_INFINITY, requestedMs);
    return told.length === 0 || isUnread || this.world.containers.some(isNext);
  }

  /**
   * The volume failed before all had read the request. The asker then took those whose records were gone for ended, and
   * its tombstone told of a later restart before they looked again.
   */
  #isReplacedUnread(ask: RestartAsk): boolean {
    const name = this.#askerOf(ask)?.name;
    const later = this.#told.find(({ by, requestedMs }) => by === name && requestedMs > ask.requestedMs);
    return later !== undefined && this.#isUnreadUntil(later.atMs, ask.requestedMs);
  }

  /** The volume failed at the request or soon after it, and until that time or shortly before. */
  #isUnreadUntil(ms: number, requestedMs: number): boolean {
    const saidMs = requestedMs + this.world.agenda.bootAtMs;
    const leastMs = Math.max(saidMs, ms - SEEN_LATE_MS);
    return this.world.troubles.some(({ atMs, toMs }) => atMs < saidMs + SEEN_LATE_MS && toMs > leastMs);
  }

  /** The member that asked was over, or had a next container, before this one looked: it was young, or hung. */
  #isGoneBeforeItLooked(container: Container, { ask, deafUntilMs }: Asked): boolean {
    const { agenda, containers } = this.world;
    const asker = this.#askerOf(ask);
    const next = containers.find((it) => it.member === asker && it.startedAtMs > ask.requestedMs);
    const overMs = asker?.isOver === true ? asker.endedAtMs - agenda.bootAtMs : Number.POSITIVE_INFINITY;
    const goneMs = Math.min(overMs, next?.startedAtMs ?? Number.POSITIVE_INFINITY);
    const isYoung = container.startedAtMs > ask.requestedMs - SEEN_LATE_MS;
    if (isYoung && goneMs < ask.requestedMs + SEEN_LATE_MS) return true;
    return (deafUntilMs.get(container) ?? 0) - agenda.bootAtMs > goneMs;
  }

  /** undefined: none has asked by itself. */
  #askerOf(ask: RestartAsk): Member | undefined {
    return this.world.members.find(({ name }) => isBy(ask, name));
  }

  /** A member that should take part has no supervisor that could. */
  #isHeldUp({ among }: RestartAsk): boolean {
    const isLost = this.world.members.some(({ loss, name }) => loss !== undefined && takesPart(among, name));
    if (isLost) this.world.count('excused: a restart in which one without a supervisor takes no part');
    return isLost;
  }

  /** Its command has ended for one restart or another, and it need not have seen yet that it may start again. */
  #isAboutToStart({ config }: Member, { child, restart }: State): boolean {
    const againAtMs = (restart?.againSinceMs ?? 0) + this.world.agenda.bootAtMs;
    const opened = config.startAfter.map(({ name, condition }) => this.#since.get(`${name} ${condition}`) ?? 0);
    return child.is === 'unstarted' && this.world.agenda.nowMs - Math.max(againAtMs, ...opened) < SETTLING_MS;
  }

  /** A member that it starts after is over, or does not come up. */
  #areGatesShut({ config }: Member): boolean {
    return config.startAfter.some(({ name, condition }) => {
      if (condition === 'completed') return true;
      const member = this.world.memberNamed(name);
      const state = member?.container?.brain?.state;
      return member?.container?.isRunning !== true || state?.chronicle.healthy === undefined;
    });
  }
}

/** It has been through this restart. */
function hasPassed({ restart }: State, { requestedMs, among }: RestartAsk): boolean {
  return restart?.passed?.some((it) => it.requestedMs === requestedMs && String(it.among) === String(among)) === true;
}

/** This member has asked by itself. */
function isBy(ask: RestartAsk | undefined, name: string): boolean {
  return ask?.by.startsWith(`${name}: `) === true;
}
