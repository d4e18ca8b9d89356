/**
 * One container: its init, which never decides, and the processes in it. What init does is what `src/init` does: it
 * queues events until they are acknowledged, keeps the memo, starts supervisors again, and goes on alone when none can
 * be started.
 */

import { type ChildExit, OVERTAKEN } from '../../src/core/exit.ts';
import { isStopRequest } from '../../src/core/ladder.ts';
import { hostKillAtMs } from '../../src/core/pod/deadline.ts';
import { SIGKILL } from '../../src/core/signals.ts';
import type { Effect } from '../../src/core/state/events.ts';
import type { Vigil as Orders } from '../../src/runtime/graveyard/vigil.ts';
import { type Memo, writeMemo } from '../../src/runtime/memo.ts';
import { type EventOf, ScriptedHost } from '../core/host.ts';
import { type Actor, actor, type Entry } from './agenda.ts';
import { Brain } from './brain.ts';
import { bornCommand, type Command, statusOf } from './command.ts';
import { comeBetween } from './races.ts';
import { SimReflexes, type Worded } from './reflexes.ts';
import { LONGEST_DELAY_MS, Starts } from './starts.ts';
import { Vigil } from './vigil.ts';
import type { Content, Holder } from './volume.ts';
import type { Member, World } from './world.ts';

export interface Queued {
  readonly seq: number;
  /** CLOCK_MONOTONIC. */
  readonly atMs: number;
  readonly event: EventOf | Worded;
}

const HANGS_AFTER_MS = 10_000;
/** What it may take until a handle is there, once the supervisor has asked for it. */
export const BINDING_MS = 3;

/** What there was when a supervisor fell asleep. */
export interface Nap {
  readonly memo: string;
  readonly files: ReadonlyMap<string, Content>;
  /** Of the handles that it held. */
  readonly holders: readonly Holder[];
  /** When it was due, CLOCK_MONOTONIC. */
  readonly dueMs: number | undefined;
  readonly sinceMs: number;
  /** The last event that init had for it. */
  readonly seq: number;
}

/** What a supervisor leaves for the next one. */
export type SimMemo = Pick<Memo, 'state' | 'isHeld' | 'rest'>;

export class Container {
  readonly world: World;
  readonly member: Member;
  readonly actor: Actor = actor();
  readonly hostId: string;
  /** How many containers there were before it. */
  readonly order: number;
  readonly startedAtMs: number;
  isRunning = true;
  isAlone = false;
  /** When its first tombstone was there. */
  writtenAtMs: number | undefined;
  wasAlone = false;
  /** When it recognized that the pod does not stop. */
  aloneSinceMs: number | undefined;
  queue: Queued[] = [];
  memo: SimMemo | undefined;
  brain: Brain | undefined;
  commands: Command[] = [];
  /** The id of the last command that init tried to start. */
  lastSpawned = 0;
  /** Stop requests that came from outside. */
  readonly asked: { readonly atMs: number; readonly signal: number }[] = [];
  /** Of `sexton stop`. */
  readonly requests: { readonly atMs: number; readonly graceMs: number | undefined }[] = [];
  /** Of the restart in place that it takes part in. */
  restarts: readonly { readonly atMs: number; readonly graceMs: number | undefined }[] = [];
  /** The restart after which its command was started again last. */
  bornAgainFor: number | undefined;
  starvedUntilMs = 0;
  exitCode: number | undefined;
  #seq = 0;
  #host: ScriptedHost;
  #pumping: Entry | undefined;
  #killing: Entry | undefined;
  /** The last command that init has KILLed because the time was over. */
  #overdue = 0;
  /** When the next commit is to come, CLOCK_MONOTONIC. */
  #dueMs: number | undefined;
  #network = new Set<number>();
  #forward: Readonly<Record<number, number>> = {};
  readonly #starts = new Starts();
  readonly reflexes = new SimReflexes(this);
  readonly #ends: (() => void)[] = [];
  #vigil: Vigil | undefined;
  #isBinding = false;
  #nap: Nap | undefined;

  constructor(world: World, member: Member) {
    this.world = world;
    this.member = member;
    this.startedAtMs = world.agenda.monoMs;
    this.order = world.containers.length;
    this.hostId = (0xa000 + world.containers.length * 0x9d7 + 1).toString(16).padStart(32, '0');
    this.#host = new ScriptedHost(() => member.nextLife());
    if (member.scenario.startsAtOnce) this.#obey({ type: 'spawn', id: 1 });
    this.#pump();
    this.#startBrain();
  }

  onEnd(then: () => void): void {
    this.#ends.push(then);
  }

  get command(): Command | undefined {
    return this.commands.at(-1);
  }

  get isCommandAlive(): boolean {
    return this.command !== undefined && this.command.exit === undefined;
  }

  get sinceBrainMs(): number {
    return this.world.agenda.nowMs - this.#starts.sinceMs;
  }

  /** A signal to PID 1. */
  signal(signal: number): void {
    if (!this.isRunning) return;
    const { config } = this.member;
    if (config.stopSignals.includes(signal)) this.asked.push({ atMs: this.world.agenda.nowMs, signal });
    if (this.isAlone) return this.#signalAlone(signal);
    const passed = this.isCommandAlive ? this.#host.passOn(signal, this.world.agenda.nowMs) : undefined;
    const as = passed?.as ?? this.#forward[signal];
    if (as === undefined || !this.isCommandAlive) {
      return this.push({ type: 'signal', signal, senderPid: 0, fromTerminal: false });
    }
    if (passed === undefined) this.#strike(as);
    else this.#recordSignal(as);
    this.push({ type: 'forwarded', signal, as, senderPid: 0 });
    this.#pump();
  }

  killCommand(oom: boolean): void {
    const { command } = this;
    if (command === undefined || command.exit !== undefined) return;
    this.#host.end(command.id, { code: undefined, signal: SIGKILL }, this.world.agenda.nowMs, oom);
    this.#pump();
  }

  /** At once, and init reaps it. */
  endCommand(exit: ChildExit): void {
    const { command } = this;
    if (command === undefined || command.exit !== undefined) return;
    this.#host.end(command.id, exit, this.world.agenda.nowMs);
    this.#hearDue();
    this.#pump();
  }

  push(event: EventOf | Worded): void {
    const { agenda } = this.world;
    this.#seq += 1;
    const queued = { seq: this.#seq, atMs: agenda.monoMs, event };
    this.queue.push(queued);
    this.brain?.awaken();
    this.wake('an event');
    this.#armKill();
    agenda.in(HANGS_AFTER_MS, this.actor, () => this.#judgeBrain(queued));
  }

  /** One transaction of the supervisor. */
  commit(ack: number | undefined, memo: SimMemo, effects: readonly Effect[], dueMs: number | undefined): void {
    if (this.isAlone) this.world.count('alone and back');
    this.isAlone = false;
    this.#starts.commit();
    this.memo = memo;
    if (ack !== undefined) this.queue = this.queue.filter(({ seq }) => seq > ack);
    for (const effect of effects) this.#obey(effect);
    this.reflexes.commit({ state: memo.state, wakeAtMs: dueMs });
    this.#expect(dueMs);
    this.#armKill();
    this.#pump();
  }

  /** From now on remembers what changes. */
  watch(orders: Orders): void {
    const { volume, parts } = this.world;
    this.#vigil?.stop();
    this.#vigil = new Vigil(volume, orders, parts.onEnd, (why, name) => this.wake(why, name));
  }

  /** Lets the supervisor go, if there is nothing that it does not know. */
  sleep(): void {
    const { agenda, count } = this.world;
    comeBetween(this, 'sleep');
    const isGroupLeft = this.command?.exit !== undefined && !this.command.isGroupGone;
    const isDue = this.#dueMs !== undefined && this.#dueMs <= agenda.monoMs;
    if (this.queue.length > 0 || this.#vigil?.fired !== undefined || isGroupLeft || isDue) {
      this.#vigil?.stop();
      this.#vigil = undefined;
      return count('not let go to sleep');
    }
    count('asleep');
    this.world.tell(agenda.nowMs, this.member.name, 'sleeps');
    const { volume } = this.world;
    const held = Object.entries(this.brain?.state.peers ?? {}).filter(([, { liveness }]) => liveness === 'held');
    const holders = held.flatMap(([name]) => volume.sockets.get(name) ?? []);
    this.#dropBrain();
    const memo = writeMemo(this.memo as SimMemo);
    const { nowMs: sinceMs } = agenda;
    this.#nap = { memo, files: new Map(volume.files), holders, dueMs: this.#dueMs, sinceMs, seq: this.#seq };
    const nap = this.#nap;
    const wake = (): void => (this.#nap === nap ? this.wake('the time') : undefined);
    if (this.#dueMs !== undefined) agenda.at(Math.ceil(this.#dueMs + agenda.bootAtMs), this.actor, wake);
  }

  get isAsleep(): boolean {
    return this.#nap !== undefined;
  }

  /** A stop request is left in the graveyard. */
  noticeRequest(): void {
    this.#vigil?.asked();
    if (this.member.config.solo) this.wake('a request');
  }

  /** `by`: of whose file or handle it was told. */
  wake(why: string, by?: string): void {
    const nap = this.#nap;
    if (nap === undefined || !this.isRunning) return;
    this.#nap = undefined;
    this.#vigil?.stop();
    this.#vigil = undefined;
    this.world.count(`woken by ${why}`);
    this.world.tell(this.world.agenda.nowMs, this.member.name, `woken by ${why}`);
    this.world.laws.woken(this, nap, { why, by });
    this.#startBrain(true);
  }

  /** A main has said that it is gone for good, if this init holds a connection to it. */
  hearOfMain(hostId: string): void {
    const { agenda, dice, volume } = this.world;
    if (!volume.canHoldSockets || !this.isRunning) return;
    agenda.in(dice.short(2), this.actor, () => this.#endWith(this.reflexes.hear(hostId)));
  }

  #endWith(signal: number | undefined): void {
    const { command } = this;
    if (signal === undefined || command === undefined || !this.isCommandAlive) return;
    this.#strike(signal);
    this.push({ type: 'stopSent', id: command.id, signal });
    this.#pump();
  }

  listen(): void {
    const { dice, agenda } = this.world;
    this.#isBinding = true;
    agenda.in(dice.short(BINDING_MS), this.actor, () => this.#bind());
  }

  #bind(): void {
    this.#isBinding = false;
    this.world.volume.bind(this.member.name, this);
  }

  /** The supervisor dies; what it has not committed is lost with it. */
  loseBrain(): void {
    if (this.brain === undefined) return;
    const { agenda } = this.world;
    this.#dropBrain();
    this.#vigil?.stop();
    this.#vigil = undefined;
    if (!this.isRunning) return;
    agenda.in(this.#starts.afterLife(agenda.nowMs), this.actor, () => this.#startBrain());
  }

  #dropBrain(): void {
    this.brain?.die();
    this.brain = undefined;
    this.#host.loseSupervisor();
    this.#network.clear();
  }

  /** Init leaves, or all of the container is killed. */
  end(code: number, how: 'left' | 'killed'): void {
    if (!this.isRunning) return;
    // Init does one thing after the other.
    if (how === 'left' && this.#isBinding) this.#bind();
    this.isRunning = false;
    if (this.#nap !== undefined) this.world.laws.napEnded(this, this.#nap);
    this.#nap = undefined;
    this.#vigil?.stop();
    this.exitCode = code;
    this.world.laws.containerEnded(this, code, how);
    this.actor.isDead = true;
    this.brain?.die();
    this.brain = undefined;
    for (const then of this.#ends) then();
    this.world.kubelet.hearOfExit(this, code, how);
  }

  #startBrain(wasWoken = false): void {
    const { agenda } = this.world;
    const { bootMs } = this.member.scenario;
    this.#starts.begin(agenda.nowMs);
    agenda.in(Math.ceil(bootMs / 2) + this.world.dice.int(bootMs), this.actor, () => {
      if (agenda.nowMs < this.starvedUntilMs) return this.#missStart();
      this.brain = new Brain(this.world, this, wasWoken);
      this.brain.open();
    });
  }

  /** It died before its first commit. */
  #missStart(): void {
    const { agenda, count } = this.world;
    count('supervisor not started');
    const delayMs = this.#starts.afterMiss();
    if (delayMs !== undefined) return void agenda.in(delayMs, this.actor, () => this.#startBrain());
    if (!this.isAlone) this.#goOnAlone();
    agenda.in(LONGEST_DELAY_MS, this.actor, () => this.#startBrain());
  }

  #goOnAlone(): void {
    this.world.count('alone');
    this.isAlone = true;
    this.wasAlone = true;
    for (const { id } of this.memo?.state.tasks ?? []) this.#obey({ type: 'endTask', id });
    if (this.command === undefined) return this.end(125, 'left');
    const signals = this.queue.filter(({ event }) => event.type === 'signal');
    this.queue = this.queue.filter(({ event }) => event.type !== 'signal');
    for (const { event } of signals) if (event.type === 'signal') this.#signalAlone(event.signal);
    if (this.command.exit !== undefined) this.end(statusOf(this.command.exit), 'left');
    this.#pump();
  }

  #signalAlone(signal: number): void {
    const { config } = this.member;
    const isStop = config.stopSignals.includes(signal);
    const first = config.ladder?.[0]?.signal ?? config.signals[signal] ?? signal;
    const as = isStop && typeof first === 'number' ? first : signal;
    this.#strike(as);
    this.push({ type: 'forwarded', signal, as, senderPid: 0 });
    this.#pump();
  }

  /** When init KILLs by itself: by the supervisor's word, or by what it has not acknowledged. */
  get #killAtMs(): number | undefined {
    const { gracePeriodMs } = this.member.config;
    const said = this.memo === undefined ? undefined : hostKillAtMs(this.memo.state);
    const stop = gracePeriodMs === undefined ? undefined : this.#waitingStop;
    const all = [said, stop && stop.atMs + (gracePeriodMs ?? 0)].filter((atMs) => atMs !== undefined);
    return all.length === 0 ? undefined : Math.min(...all);
  }

  /** The oldest stop request that is not acknowledged. */
  get #waitingStop(): Queued | undefined {
    const { config } = this.member;
    return this.queue.find(
      ({ event }) => (event.type === 'signal' || event.type === 'forwarded') && isStopRequest(config, event.signal),
    );
  }

  #armKill(): void {
    const { agenda } = this.world;
    const atMs = this.#killAtMs;
    agenda.cancel(this.#killing);
    if (atMs === undefined || this.command === undefined || this.#overdue === this.command.id) return;
    this.#killing = agenda.at(Math.ceil(atMs + agenda.bootAtMs), this.actor, () => this.#killOverdue());
  }

  /** It has KILLed the last command when the grace period was over. */
  get hasKilled(): boolean {
    return this.#overdue !== undefined && this.#overdue === this.command?.id;
  }

  #killOverdue(): void {
    const { command, world } = this;
    if (command === undefined || (command.exit !== undefined && command.isGroupGone)) return;
    this.#overdue = command.id;
    if (command.exit === undefined) {
      world.count('KILL by init in place of its supervisor');
      world.laws.overdue(this);
      command.signals.push({ atMs: world.agenda.nowMs, signal: SIGKILL });
    }
    this.#host.obey({ type: 'kill', id: command.id, signal: SIGKILL }, world.agenda.nowMs);
    this.push({ type: 'overdue', id: command.id });
    this.#pump();
  }

  /** A supervisor that is too late by its own word hangs; who stood still with it has to look again. */
  #expect(dueMs: number | undefined): void {
    const { agenda } = this.world;
    this.#dueMs = dueMs;
    if (dueMs === undefined) return;
    const { brain } = this;
    const judge = (sinceMs: number): void => {
      const lateMs = agenda.nowMs - sinceMs - HANGS_AFTER_MS;
      if (this.brain !== brain || brain === undefined || this.#dueMs !== dueMs) return;
      if (lateMs > 0) return void agenda.in(HANGS_AFTER_MS, this.actor, () => judge(agenda.nowMs - HANGS_AFTER_MS));
      this.world.count('supervisor that was due killed');
      this.loseBrain();
    };
    const atMs = Math.ceil(Math.max(dueMs + agenda.bootAtMs, agenda.nowMs)) + HANGS_AFTER_MS;
    agenda.at(atMs, this.actor, () => judge(atMs - HANGS_AFTER_MS));
  }

  #judgeBrain({ seq }: Queued): void {
    const isOld = this.world.agenda.nowMs - this.#starts.sinceMs >= HANGS_AFTER_MS;
    if (this.brain === undefined || !isOld || !this.queue.some((queued) => queued.seq === seq)) return;
    this.world.count('hanging supervisor killed');
    this.loseBrain();
  }

  #obey(effect: Effect): void {
    const { agenda, laws } = this.world;
    if (effect.type === 'spawn') {
      if (effect.id <= this.lastSpawned) return;
      if (this.#waitingStop !== undefined) {
        this.world.count('start overtaken by a stop request');
        return this.push({ type: 'spawnFailed', id: effect.id, errno: OVERTAKEN });
      }
      laws.spawning(this, effect.id);
      this.lastSpawned = effect.id;
    }
    if (effect.type === 'kill') {
      // Init has passed it on, and the supervisor has not heard of that yet.
      const { stopSignals } = this.member.config;
      const isKnown = ({ event }: Queued): boolean =>
        (event.type === 'forwarded' && event.as === effect.signal && stopSignals.includes(event.signal)) ||
        (event.type === 'stopSent' && event.signal === effect.signal);
      if (this.queue.some(isKnown)) return this.world.count('signal not repeated');
      this.#recordSignal(effect.signal);
    }
    if (effect.type === 'forward') this.#forward = effect.table;
    if (effect.type === 'startTask' && effect.action.kind !== 'exec') this.#network.add(effect.id);
    this.#host.obey(effect, agenda.nowMs);
  }

  #strike(signal: number): void {
    const { command } = this;
    if (command === undefined) return;
    this.#recordSignal(signal);
    this.#host.obey({ type: 'kill', id: command.id, signal }, this.world.agenda.nowMs);
  }

  #recordSignal(signal: number): void {
    this.world.laws.signalled(this, signal);
    this.command?.signals.push({ atMs: this.world.agenda.nowMs, signal });
    this.world.count(signal === SIGKILL ? 'KILL by sexton' : 'signal by sexton');
  }

  /** What the processes do by themselves. */
  #pump(): void {
    const { agenda } = this.world;
    agenda.cancel(this.#pumping);
    const { nextMs } = this.#host;
    if (nextMs === undefined || !this.isRunning) return;
    this.#pumping = agenda.at(nextMs, this.actor, () => {
      this.#hearDue();
      this.#pump();
    });
  }

  #hearDue(): void {
    const { nowMs } = this.world.agenda;
    while (this.isRunning && this.#host.nextMs !== undefined && this.#host.nextMs <= nowMs) {
      const event = this.#host.take();
      if (event !== undefined) this.#hear(event);
    }
  }

  #hear(event: EventOf): void {
    const { agenda } = this.world;
    if (event.type === 'taskEnded' && this.#network.delete(event.id)) return this.brain?.hearOfAction(event);
    if (event.type === 'spawned') this.commands.push(bornCommand(event.id, agenda.nowMs));
    if (event.type === 'exited' && this.command !== undefined) {
      this.command.exit = { code: event.code, signal: event.signal };
      this.command.diedAtMs = agenda.nowMs;
    }
    if (event.type === 'spawned') this.#armKill();
    if (event.type === 'spawnFailed') this.member.hasFailedStarts = true;
    if (event.type === 'groupGone' && this.command !== undefined) this.command.isGroupGone = true;
    if (event.type === 'exited' && this.#isAllOf(event.id)) {
      const worded = this.reflexes.sayLastWord(event);
      if (!this.isRunning) return;
      if (worded !== undefined) {
        this.#host.take();
        this.push(worded);
        comeBetween(this, 'last word');
        if (this.isAlone) this.end(statusOf(event), 'left');
        return;
      }
    }
    this.push(event);
    if (this.isAlone && event.type === 'exited') this.end(statusOf(event), 'left');
  }

  /** Nothing is left of this child: its group is empty at once, and no stray is there. */
  #isAllOf(id: number): boolean {
    const [next] = this.#host.dueFrom(this.world.agenda.nowMs);
    const [inMs, event] = next ?? [];
    return inMs === 0 && event?.type === 'groupGone' && event.id === id && event.strays === 0;
  }
}
