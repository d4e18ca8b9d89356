/**
 * What must hold in every run, at every step. Each law has the name under which
 * `docs/internals/guarantees.md` states it.
 *
 * Laws judge by what is true in the simulated world, never by what a member believes. Where it cannot know that, the
 * excuse is counted.
 */
import { isDeepStrictEqual } from 'node:util';
import type { MemberConfig } from '../../src/core/config.ts';
import type { Tombstone } from '../../src/core/format/tombstone.ts';
import { mattersTo } from '../../src/core/pod/interest.ts';
import { isRestarting } from '../../src/core/pod/restart.ts';
import { isFinalEnd, restartsAll } from '../../src/core/restart.ts';
import { SIGKILL } from '../../src/core/signals.ts';
import { MAINS_FINISHED, RESTART } from '../../src/core/state/state.ts';
import { readMemo } from '../../src/runtime/memo.ts';
import { isSoundStep } from '../core/invariants.ts';
import type { Step } from '../core/life.ts';
import { judgeVerdict } from './alone.ts';
import { statusOf } from './command.ts';
import { BINDING_MS, type Container, type Nap } from './container.ts';
import { Drains } from './drains.ts';
import { type Breach, Dues } from './dues.ts';
import { Requests } from './heard.ts';
import { Judge } from './judge.ts';
import { earlyKill } from './kills.ts';
import { judgeLinger } from './linger.ts';
import { Lost } from './lost.ts';
import { SETTLING_MS } from './on-record.ts';
import type { ChildProcess } from './processes.ts';
import { Restarts } from './restarts.ts';
import { Trees } from './trees.ts';
import {
  DOUBTED_MS,
  hasSaidFinal,
  isBornInVain,
  isCommandAlive,
  isCut,
  isMisledBySilence,
  isMixedUp,
  isUnheard,
  mainsOf,
  ownTombstone,
  quorumHasFinished,
} from './truth.ts';
import { judgeTurn } from './turn.ts';
import type { Member, World } from './world.ts';

/** Passed on by init for the command itself; no rung of any ladder here. */
const PASSED_ON: ReadonlySet<number> = new Set([1, 10]);

interface Grave {
  readonly container: Container;
  readonly tombstone: Tombstone;
  /** Init wrote it as the prepared end, and no supervisor did. */
  readonly byInit: boolean;
}

export class Laws extends Judge {
  breach: Breach | undefined;
  /** The last whole tombstone of each name, and the container that wrote it. */
  readonly #graves = new Map<string, Grave>();
  readonly #deadlines = new Map<Container, number>();
  readonly #misled = new Set<Container>();
  /** Members whose last container left because the mains had finished. */
  readonly #departed = new Map<Member, Container>();
  readonly #dues = new Dues(this.world);
  readonly #drains = new Drains(this.world);
  readonly restarts = new Restarts(this.world);
  readonly lost = new Lost(this.world);
  readonly trees = new Trees(this.world);
  readonly requests = new Requests(this.world);

  stepped(container: Container, step: Step): void {
    this.world.judges('step');
    try {
      isSoundStep(container.member.config, step);
    } catch (error) {
      this.breaks('step', container, (error as Error).message);
    }
    const { before, after } = step;
    this.restarts.stepped(container, step);
    this.#keepDeadline(container, step);
    this.#drains.stepped(container, step);
    const wasFree = before.stop === undefined || (isRestarting(before) && !isRestarting(after));
    if (wasFree && after.stop !== undefined) this.#judgeWish(container, step);
    if (after.stop?.alone === true) container.aloneSinceMs ??= this.world.agenda.nowMs;
    judgeVerdict(container, step);
    if (isOnItsWay(after) && !isOnItsWay(before)) judgeTurn(container, step);
  }

  /** Init has held a stop request, and is about to pass it on: all mains that it knew have ended. */
  heldUntilMainsEnded(container: Container): void {
    this.world.judges('sidecars outlive mains');
    const askedAtMs = container.asked.at(-1)?.atMs ?? 0;
    for (const main of mainsOf(container.member).filter(isCommandAlive))
      if ((main.container?.command?.bornAtMs ?? 0) < askedAtMs && !isBackFromStop(main))
        this.breaks('sidecars outlive mains', container, `${main.name} still lives`);
  }

  /** Init is about to signal it because of its mains. */
  endedWithMains(container: Container): void {
    judgeLinger(container, container.rows.endedFrom);
  }

  /** A signal of sexton's own is about to reach the command. */
  signalled(container: Container, signal: number): void {
    const { command, member } = container;
    if (command === undefined || command.exit !== undefined || PASSED_ON.has(signal)) return;
    const before = command.signals.filter((sent) => !PASSED_ON.has(sent.signal));
    if (before.length > 0) this.world.judges('signal once');
    if (before.some((sent) => sent.signal === signal)) {
      // Init and supervisor wake together after a pause, and neither knows yet of the other's KILL.
      if (signal === SIGKILL && container.hasKilled) this.world.count('excused: KILL by init and its supervisor');
      else if (container.isAlone && container.asked.at(-1)?.atMs === this.world.agenda.nowMs)
        this.world.count('excused: a further request, passed on by init alone');
      else this.breaks('signal once', container, `signal ${signal} twice`);
    }
    const isFirstRung = member.config.ladder?.[0]?.signal === SIGKILL;
    if (signal === SIGKILL && !isFirstRung) this.world.judges('signal before KILL');
    if (signal === SIGKILL && before.length === 0 && !isFirstRung)
      this.breaks('signal before KILL', container, 'KILL without a stop signal before it');
    const early = signal === SIGKILL ? earlyKill(container) : undefined;
    if (early !== undefined) this.breaks('own grace period', container, early);
  }

  /** Init watches from now on, so all that was written before must be known. */
  fallsAsleep(container: Container): void {
    const { name, config } = container.member;
    const { volume } = this.world;
    for (const file of volume.files.keys()) {
      const tombstone = file === name ? undefined : volume.tombstoneOf(file);
      if (tombstone === undefined || !mattersAsleep(config, tombstone)) continue;
      const known = container.brain?.state.peers?.[file]?.tombstone;
      if (!isDeepStrictEqual(known, tombstone)) this.breaks('sleep', container, `it knows nothing of ${file}`);
    }
  }

  /** It is woken, or its container is over. An event that init had before the sleep must wake it at once. */
  napEnded(container: Container, { sinceMs, seq }: Nap): void {
    if (this.world.agenda.nowMs > sinceMs && container.queue.some((queued) => queued.seq <= seq))
      this.breaks('sleep', container, 'it has slept through an event that init had for it');
  }

  /**
   * A sleep is a crash: the supervisor that is woken knows what the one before knew, byte for byte. `by`: whose file or
   * handle has woken it.
   */
  woken(container: Container, nap: Nap, why: string, by?: string): void {
    const { memo: before } = nap;
    const { memo, hostId } = container;
    this.world.judges('sleep');
    this.napEnded(container, nap);
    if (nap.hasPassedOver) this.world.count('excused: changes that a prepared stop has passed over');
    else this.#judgeHearing(container, nap, why, by);
    if (memo?.text !== before) return this.breaks('sleep', container, 'the memo is another one than before');
    const read = readMemo(before, hostId);
    const known = read && { ...read.state, hasCaughtUp: memo.state.hasCaughtUp };
    if (!before.endsWith(`"state":${JSON.stringify(known)}}`))
      this.breaks('sleep', container, 'what is read of the memo is not what was written');
  }

  /** It is woken in time, by the first tombstone that matters to it or the first end of a handle that it held. */
  #judgeHearing(container: Container, { files, holders, dueMs }: Nap, why: string, by?: string): void {
    const { member } = container;
    const { agenda, calmAtMs } = this.world;
    if (holders.filter(({ isRunning }) => !isRunning).length > (why === 'a handle' ? 1 : 0))
      this.breaks('sleep', container, 'it has slept through the end of a member');
    const dueAtMs = dueMs === undefined ? Number.POSITIVE_INFINITY : dueMs + agenda.bootAtMs;
    // A member is never in time while the machine or the container stands still.
    if (dueAtMs > calmAtMs && agenda.nowMs > dueAtMs + 5) this.breaks('sleep', container, 'it has overslept');
    const { volume } = this.world;
    const unheard = [...volume.files.keys()].filter((name) => {
      if (volume.files.get(name) === files.get(name) || name === member.name) return false;
      const tombstone = this.#isToldNow(name, name === by ? why : undefined) ? undefined : volume.tombstoneOf(name);
      return tombstone !== undefined && mattersAsleep(member.config, tombstone);
    });
    if (unheard.length > 0) this.breaks('sleep', container, `it has slept through what ${unheard.join(', ')} wrote`);
  }

  /** The handle announces another life of a quiet member. Its file may be there before, for longer if the volume failed. */
  #isToldNow(name: string, why: string | undefined): boolean {
    if (why === 'a file') return true;
    const { agenda, failedUntilMs, volume } = this.world;
    const { writtenAtMs, startedAtMs = 0 } = this.world.memberNamed(name)?.container ?? {};
    const isLate = why === 'a new handle' || volume.sockets.get(name)?.isRunning !== true;
    const sinceMs = Math.max(startedAtMs + agenda.bootAtMs, agenda.nowMs - SETTLING_MS);
    if (isLate && failedUntilMs >= sinceMs) return true;
    return writtenAtMs !== undefined && agenda.nowMs - writtenAtMs < BINDING_MS;
  }

  /** Init is about to KILL a command that lives, because the time is over and its supervisor has not done so. */
  overdue(container: Container): void {
    const { asked, requests, restarts, member } = container;
    const { gracePeriodMs = Number.POSITIVE_INFINITY } = member.config;
    const { nowMs, monoMs } = this.world.agenda;
    this.lost.killing(container);
    // A supervisor that comes back late does not extend the stop that init began when the mains ended.
    const ownEndsMs = [container.memo?.state.climb?.killAtMs, container.mainsEndAtMs];
    if (ownEndsMs.some((atMs = Number.POSITIVE_INFINITY) => atMs <= monoMs)) return;
    const isDue = asked.some(({ atMs }) => atMs + gracePeriodMs <= nowMs) || requests.length + restarts.length > 0;
    if (!isDue) this.breaks('before the platform', container, 'init KILLs before the grace period is over');
  }

  spawning(container: Container, id: number): void {
    const { command, member } = container;
    if (command !== undefined) this.world.judges('one command');
    if (command !== undefined && command.exit === undefined) this.breaks('one command', container, 'two at once');
    if (container.hasRoots && command?.areRootsGone !== true && !wasKilled(container))
      this.breaks('one command', container, 'another is started while roots of the last one live');
    if (id !== container.lastSpawned + 1) this.breaks('one command', container, `id ${id}`);
    this.#judgeCompany(container);
    this.restarts.spawning(container);
    if (id !== 1 || member.config.startTimeoutAction === 'continue') return;
    for (const { name, condition, optional } of member.config.startAfter) {
      this.world.judges('gates');
      const isMet = condition === 'completed' ? this.#hasCompleted(name) : this.restarts.hasBeen(name, condition);
      if (isMet || optional) continue;
      if (isMisleading(container, name) || isMixedUp(container, name))
        this.world.count('excused: a gate opened by what was there before');
      else this.breaks('gates', container, `started before ${name} was ${condition}`);
    }
  }

  onTombstoneWritten(container: Container, tombstone: Tombstone, byInit = false): void {
    this.restarts.written(tombstone);
    const { member } = container;
    const last = this.#graves.get(member.name);
    if (last?.container === container && last.byInit && isWrittenOver(last.tombstone, tombstone, container))
      return this.world.count('excused: a last word written over by a supervisor that had not heard of the end');
    this.#graves.set(member.name, { container, tombstone, byInit });
    if (last?.container === container) this.#judgeNext(container, last.tombstone, tombstone);
    else if (last !== undefined) {
      this.world.judges('graves');
      if (last.container.order > container.order) this.breaks('graves', container, 'an older life wrote last');
    }
    this.#judgeDeath(container, tombstone);
  }

  /** A death on the record stays as it is, and a deadline does not move later. */
  #judgeNext(container: Container, old: Tombstone, tombstone: Tombstone): void {
    if (old.Died !== undefined) {
      this.world.judges('graves');
      for (const key of ['Died', 'DiedMonotonic', 'ExitCode', 'Signal', 'Reason', 'Final', 'Incarnation'] as const)
        if (old[key] !== tombstone[key]) this.breaks('graves', container, `${key} of the dead was changed`);
    }
    const [before, after = Number.POSITIVE_INFINITY] = [old.Deadline, tombstone.Deadline];
    const isAgain = old.StopReason === RESTART && (tombstone.PodRestarts ?? 0) > (old.PodRestarts ?? 0);
    if (before !== undefined && !isAgain && after > before)
      this.breaks('deadline', container, `wrote ${before}, then ${tombstone.Deadline}`);
  }

  containerEnded(container: Container, code: number, how: 'left' | 'killed'): void {
    const { member, command } = container;
    const { gracePeriodMs } = member.config;
    member.endedAtMs = this.world.agenda.nowMs;
    const { stop } = container.brain?.state ?? {};
    if (how === 'left' && stop?.reason === MAINS_FINISHED) this.#departed.set(member, container);
    else this.#departed.delete(member);
    this.world.agenda.in(0, undefined, () => this.#dues.look());
    if (how === 'killed') return this.#dues.lose(member);
    this.world.judges('nothing lives');
    // One that was asked to stop, and met no fault since, leaves by itself.
    const [first] = container.asked;
    if (first !== undefined && gracePeriodMs !== undefined && this.world.calmAtMs <= first.atMs)
      this.world.judges('before the platform');
    if (isCommandAlive(member)) this.breaks('nothing lives', container, 'init leaves a living command');
    if (container.hasLeftUnrecorded) {
      this.world.count('excused: not written, as no supervisor acted');
      const own = command?.exit === undefined ? 125 : statusOf(command.exit);
      const isSpared = member.config.exitCode.kind === 'zero-when-stopped' && isAskedToStop(container);
      if (code !== own && !(code === 0 && isSpared && own !== 128 + SIGKILL))
        this.breaks('exit codes', container, `left with ${code}, without a supervisor`);
      return this.#dues.lose(member);
    }
    if (container.hasRoots && command?.areRootsGone !== true && !wasKilled(container))
      this.breaks('nothing lives', container, 'init leaves living roots that had no KILL');
    this.#judgeCode(container, code);
    const isWritten = ownTombstone(container)?.Died !== undefined;
    if (isCut(container)) {
      if (!isWritten) this.#dues.lose(member);
      return this.world.count('excused: not written, the volume failed or the machine stood still');
    }
    this.world.judges('recorded before exit');
    if (!isWritten) this.breaks('recorded before exit', container, 'its death is not in the graveyard');
  }

  /** The kubelet had to kill it. */
  killedInTime(container: Container): void {
    const { scenario, calmAtMs, agenda } = this.world;
    const { member, asked } = container;
    const askedAtMs = asked[0]?.atMs;
    const graceMs = member.config.gracePeriodMs;
    if (askedAtMs === undefined || graceMs === undefined || member.scenario.kubeletHookMs > 0) return;
    const marginMs = Math.min(500, graceMs / 20) - 60 - 8 * scenario.volume.latencyMs;
    const withTimeout = askedAtMs + graceMs > agenda.nowMs + marginMs;
    const { bootMs } = member.scenario;
    const wasReady =
      (asked[0]?.wasAsleep === true && 8 * bootMs < graceMs) ||
      (container.brain !== undefined && container.sinceBrainMs > agenda.nowMs - askedAtMs + 3 * bootMs);
    const hasUnkillable = member.scenario.lives.some(hasStuck);
    if (container.lostAtMs !== undefined || calmAtMs > askedAtMs || withTimeout || !wasReady || hasUnkillable)
      return this.world.count('excused: killed by the kubelet');
    this.breaks('before the platform', container, 'the platform’s KILL came first');
  }

  allRestarted(): void {
    this.#dues.begin();
    this.#departed.clear();
  }

  rebooted(): void {
    this.#departed.clear();
    this.#graves.clear();
    this.restarts.begin();
  }

  podEnded(isOver: boolean): void {
    if (this.breach !== undefined) return;
    this.world.judges('nothing hangs');
    if (!isOver) this.breaks('nothing hangs', 'pod', 'the pod does not end');
    for (const container of this.world.containers)
      if (container.isRunning) this.breaks('nothing lives', container, 'it runs when all is over');
  }

  get isSomebodyDue(): boolean {
    return this.#dues.isSomebody || this.restarts.isSomebodyDue || this.requests.isSomebodyDue;
  }

  #keepDeadline(container: Container, { before, after }: Step): void {
    const { deadline } = after;
    if (deadline === undefined) {
      if (after.podRestarts > before.podRestarts) this.#deadlines.delete(container);
      if (this.#deadlines.has(container)) this.breaks('deadline', container, 'it is forgotten');
      return;
    }
    const last = this.#deadlines.get(container);
    const wasSoft = before.deadline?.kills === false && deadline.kills;
    if (last !== undefined && deadline.atMs !== last) this.world.judges('deadline');
    if (last !== undefined && deadline.atMs > last && !wasSoft) this.breaks('deadline', container, 'it moves later');
    this.#deadlines.set(container, deadline.atMs);
  }

  /** No main runs whose sidecar has left for good, because it took an earlier end of the main for the last one. */
  #judgeCompany(container: Container): void {
    const isServed = ({ config }: Member): boolean => config.role === 'sidecar' && config.when === 'all';
    const isAgain = container.lastSpawned > 0 || container.order >= this.world.members.length;
    if (isAgain && container.member.config.role === 'main' && this.world.members.some(isServed))
      this.world.judges('no main without its sidecar');
    for (const [sidecar, last] of this.#departed) {
      if (!sidecar.isOver || sidecar.config.when === 'any') continue;
      if (!mainsOf(sidecar).includes(container.member)) continue;
      if (isBroughtBack(sidecar) || this.#misled.has(last)) continue;
      this.breaks('no main without its sidecar', container, `started when ${sidecar.name} had left for good`);
    }
  }

  /** A decision to stop has a true reason. */
  #judgeWish(container: Container, { after }: Step): void {
    const law = 'no healthy one is disturbed';
    this.world.judges(law);
    if (isRestarting(after)) {
      if (!this.restarts.isAsked(after)) this.breaks(law, container, 'it restarts without a request');
    } else if (after.stop?.origin === 'platform') {
      if (!isAskedToStop(container)) this.breaks(law, container, 'it stops without a request');
    } else if (!quorumHasFinished(container.member)) {
      const why = misleading(container);
      if (why === undefined) return this.breaks(law, container, 'it stops although its mains have not finished');
      this.#misled.add(container);
      this.world.count(`excused: ${why}`);
    }
  }

  #judgeDeath(container: Container, { Died, ExitCode, Reason }: Tombstone): void {
    const { command } = container;
    if (Died === undefined || command === undefined || Reason === 'never-started') return;
    this.world.judges('true record');
    if (command.exit === undefined) return this.breaks('true record', container, 'dead on the record, and it lives');
    if (ExitCode !== statusOf(command.exit) && !container.member.hasFailedStarts)
      this.breaks('true record', container, `${ExitCode} on the record, in truth ${statusOf(command.exit)}`);
  }

  #judgeCode(container: Container, code: number): void {
    const { command, member, asked } = container;
    const { exitCode } = member.config;
    if (exitCode.kind === 'map' || member.hasFailedStarts || isBornInVain(container)) return;
    this.world.judges('exit codes');
    const isMisled = isBroughtBack(member) || this.#misled.has(container);
    const isStopped = isAskedToStop(container) || isMisled || quorumHasFinished(member);
    const isSpared = exitCode.kind === 'zero-when-stopped' && (isStopped || this.#dues.has(member));
    if (code !== 0 && exitCode.kind === 'zero-when-stopped' && isStoppedByRequest(container))
      this.breaks('exit codes', container, `left with ${code}, and was asked to stop`);
    const before = [125, ...asked.map(({ signal }) => 128 + signal), ...(isStopped ? [143, 0] : [])];
    const allowed = command?.exit === undefined ? before : [statusOf(command.exit)];
    if ((code !== 0 || !isSpared) && ![...allowed, ...this.restarts.codesOf(container)].includes(code))
      this.breaks('exit codes', container, `left with ${code}, not ${allowed.join(' or ')}`);
  }

  #hasCompleted(name: string): boolean {
    return this.world.containers.some(
      ({ member, commands }) => member.name === name && commands.some(({ exit }) => exit?.code === 0),
    );
  }

  override breaks(law: string, by: Container | string, what: string): void {
    const who = typeof by === 'string' ? by : `${by.member.name} (container ${by.order})`;
    this.world.tell(who, `BREACH of "${law}": ${what}`);
    this.breach ??= { law, atMs: this.world.agenda.nowMs, who, what };
  }
}

/**
 * A file of kubexit says no more than Born. One of an earlier life looks alive without sockets, and is all that was
 * seen when the rest was wiped away. A death that nothing ties to another pod is believed after 10 s, if no container
 * of that name could write until then.
 */
function isMisleading(by: Container, gate: string): boolean {
  const { world } = by;
  const { stale, sockets } = world.scenario.volume;
  const isWiped = world.meets('wipe');
  const member = world.memberNamed(gate);
  const isUncontradicted = by.ageMs >= DOUBTED_MS && (member?.container === undefined || isUnheard(by, member));
  return stale.some(({ name, is, of }) => {
    if (name !== gate) return false;
    if (is === 'kubexit') return true;
    if (of !== 'an earlier life') return false;
    return is === 'alive' ? !sockets : isWiped || (is === 'dead' && isUncontradicted);
  });
}

/** The supervisor began to write before it heard of the end that init has written. It writes the end again. */
function isWrittenOver(old: Tombstone, { Died }: Tombstone, { queue, brain }: Container): boolean {
  const isKnown = brain?.state.chronicle.died === old.Died;
  return Died === undefined && (isKnown || queue.some(({ event }) => event.type === 'endWritten'));
}

function hasStuck({ isStuck, children = [] }: ChildProcess): boolean {
  return isStuck === true || children.some(hasStuck);
}

function isAskedToStop({ asked, requests }: Container): boolean {
  return asked.length > 0 || requests.length > 0;
}

/** Its turn has come: pre-stop, then the ladder. From here on there is no way back. */
function isOnItsWay({ stop, climb }: Step['after']): boolean {
  return climb?.why === 'stop' || stop?.waitsFor === 'pre-stop';
}

/** Why it takes mains for finished that are not; undefined: it should know better. */
function misleading(container: Container): string | undefined {
  const { member, rows, world } = container;
  if (isBroughtBack(member)) return 'a main that was replaced said that it is final';
  if (isToldNothing(world)) return 'no member could tell that all were restarted';
  if (rows.isEndedUnsure) return 'init alone cannot know whether a main that was killed comes back';
  if (hasLeftUnsaid(member)) return 'a main could not write down the code that a rule restarts';
  if (isMisledBySilence(container)) return 'a main could not write, or take its handle, to show that it lives';
  return undefined;
}

/** A main of it said that no other life follows, and was replaced or killed: the kubelet starts it again. */
function isBroughtBack(member: Member): boolean {
  const { kubelet, agenda } = member.world;
  const sinceMs = kubelet.restartedAllAtMs - agenda.bootAtMs;
  const lives = livesOf(mainsOf(member)).filter((main) => !main.member.isOver && main.startedAtMs >= sinceMs);
  return lives.some((main) => hasSaidFinal(main) && (main.wasKilled || main.asked.length > 0));
}

/**
 * A main has left with a code that a restart rule matches, without a supervisor or on a volume that failed. It could
 * not write that down, so the others take it for killed.
 */
function hasLeftUnsaid(member: Member): boolean {
  return livesOf(mainsOf(member)).some((main) => (main.hasLeftUnrecorded || isCut(main)) && hasEndedByRule(main));
}

/** All their containers until now. */
function livesOf(members: readonly Member[]): readonly Container[] {
  return members.flatMap((member) => member.world.containers.filter((container) => container.member === member));
}

function hasEndedByRule({ member: { config }, exitCode: code }: Container): boolean {
  return code !== undefined && !isFinalEnd(config, code) && isFinalEnd({ ...config, restartRules: [] }, code);
}

/** Its command has had the stop signal of the pod, and ended by itself. */
function isStoppedByRequest({ command, asked, aloneSinceMs, brain }: Container): boolean {
  const [first] = asked;
  if (first === undefined || command?.exit === undefined || command.exit.signal === SIGKILL) return false;
  const isAlone = aloneSinceMs !== undefined || brain === undefined || isRestarting(brain.state);
  return !isAlone && command.signals.some(({ atMs }) => atMs > first.atMs && atMs < (command.diedAtMs ?? 0));
}

/** Another life of it, which was asked to stop, has ended a moment ago: it was not the pod that was being stopped. */
function isBackFromStop(main: Member): boolean {
  const { containers, agenda } = main.world;
  const before = containers.findLast(({ member, isRunning }) => member === main && !isRunning);
  return before !== undefined && before.asked.length > 0 && agenda.nowMs - main.endedAtMs < BACK_MS;
}

const BACK_MS = 600;

/** By its supervisor, or by init when the deadline had come. */
function wasKilled({ command, hasKilled }: Container): boolean {
  const isSent = command?.signals.some(({ signal }) => signal === SIGKILL) === true;
  return hasKilled || isSent || command?.exit?.signal === SIGKILL;
}

/**
 * All were restarted, and the volume failed. Or no init container starts a new generation, and no member that declares
 * such a restart had written its first tombstone by then.
 */
function isToldNothing({ kubelet, scenario, containers, failedUntilMs }: World): boolean {
  if (kubelet.restartsOfAll === 0) return false;
  const hasFailed = failedUntilMs + SETTLING_MS > kubelet.restartedAllAtMs;
  if (hasFailed || scenario.begins) return hasFailed;
  const isSaid = ({ member, writtenAtMs }: Container): boolean =>
    restartsAll(member.config) && writtenAtMs !== undefined && writtenAtMs < kubelet.restartedAllAtMs;
  return !containers.some(isSaid);
}

/** A sleeping member learns of a restart in place by a request of its own. */
function mattersAsleep(config: MemberConfig, { RestartRequested: _restart, ...rest }: Tombstone): boolean {
  return mattersTo(config, 'own', rest);
}
