/**
 * One container: its init, which never decides, and the processes in it. Init does what `src/init` does: it queues
 * events until they are acknowledged, keeps the memo and starts supervisors again. It goes on alone when none can be
 * started.
 */
import { type ChildExit, OVERTAKEN } from '../../src/core/exit.ts';
import { type Orders, ordersOf } from '../../src/core/orders.ts';
import { SIGKILL, SIGTERM } from '../../src/core/signals.ts';
import { initialState, type State } from '../../src/core/state/state.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Commit, HostCommand, HostEvent, WatchCommand } from '../../src/runtime/host/host.ts';
import type { ActionEnd, NetworkAction, RunningAction } from '../../src/runtime/probes/probe.ts';
import { type EventOf, ScriptedHost } from '../core/host.ts';
import { type Actor, actor, type Entry } from './agenda.ts';
import { Brain } from './brain.ts';
import { type Command, statusOf } from './command.ts';
import { SimContacts } from './contacts.ts';
import { comeBetween } from './faults.ts';
import { endsAtMs, killRowOf, type Lost, leavesAtMs, oldestStop, rowOf, type Stopping, stopOf } from './grace.ts';
import { INIT, type Process, Processes } from './processes.ts';

import { type Notice, SimRows } from './rows.ts';
import { SimRungs } from './rungs.ts';
import type { Life } from './scenario.ts';
import { Starts } from './starts.ts';
import { Vigil } from './vigil.ts';
import type { Content, Holder } from './volume.ts';
import type { Member, World } from './world.ts';

/** The command has ended with this code, nothing is left of it, and init has written that. */
type EndWritten = { readonly type: 'endWritten'; readonly id: number; readonly pid: number; readonly code: number };

export interface Queued {
  readonly seq: number;
  /** CLOCK_MONOTONIC. */
  readonly atMs: number;
  readonly wall: string;
  readonly event: EventOf | EndWritten;
  /** A stop request that was passed on at once. */
  readonly isOnce: boolean;
}

const NEVER = Number.POSITIVE_INFINITY;
/** Changes that do not interrupt a prepared stop. */
const CHANGES: ReadonlySet<string> = new Set(['a file', 'a new handle', 'a handle', 'the directory']);
const HANGS_AFTER_MS = 10_000;
const REST_MS = 30_000;
/** What it takes to read a request that has come just before. */
const RACE_MS = 20;
/** What it may take until a handle is there, once the supervisor has asked for it. */
export const BINDING_MS = 3;

/** What there was when a supervisor fell asleep. */
export interface Nap {
  readonly memo: string;
  readonly files: ReadonlyMap<string, Content>;
  /** The containers behind the handles that it was connected to. */
  readonly holders: readonly Holder[];
  /** When it was due, CLOCK_MONOTONIC. */
  readonly dueMs: number | undefined;
  readonly sinceMs: number;
  /** The last event that init had for it. */
  readonly seq: number;
  /** A change has started no supervisor, as a prepared stop was under way. */
  hasPassedOver?: boolean;
  /** When the first change came, CLOCK_MONOTONIC. */
  firedAtMs?: number;
}

/** What a supervisor leaves for the next one, and the state in it, for the laws. */
interface SimMemo {
  readonly text: string;
  readonly state: State;
}

/** What init, the faults and the laws need of one that init has started. */
export type SimSupervisor = Pick<
  Brain,
  'actor' | 'state' | 'doom' | 'start' | 'awaken' | 'watch' | 'hearContact' | 'die' | 'doomByLoss'
> & {
  readonly access: Pick<Brain['access'], 'deafen'>;
};
type SupervisorOf = (world: World, by: Container, wokenBy: string | undefined) => SimSupervisor;

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
  /** It has left by itself, and nothing of its end is recorded. */
  hasLeftUnrecorded = false;
  /** Since when no supervisor of it has lived on after its first commit, nor ever will. */
  lostAtMs: number | undefined;
  /** When its first tombstone was there. */
  writtenAtMs: number | undefined;
  wasAlone = false;
  /** When it recognized that the pod does not stop. */
  aloneSinceMs: number | undefined;
  queue: Queued[] = [];
  memo: SimMemo | undefined;
  brain: SimSupervisor | undefined;
  commands: Command[] = [];
  /** The id of the last command that init tried to start. */
  lastSpawned = 0;
  /** Stop requests that came from outside. */
  readonly asked: { readonly atMs: number; readonly signal: number; readonly wasAsleep: boolean }[] = [];
  /** Requests of `sexton stop`. */
  readonly requests: { readonly atMs: number; readonly graceMs: number | undefined }[] = [];
  /** Requests of the restart in place that it takes part in. */
  restarts: readonly { readonly atMs: number; readonly graceMs: number | undefined }[] = [];
  /** The restart after which its command was started again last. */
  bornAgainFor: number | undefined;
  starvedUntilMs: number;
  exitCode: number | undefined;
  wasKilled = false;
  /** As the kernel counts them. */
  oomKills = 0;
  #seq = 0;
  #host: ScriptedHost;
  #pumping: Entry | undefined;
  #acting: Entry | undefined;
  #walking: Entry | undefined;
  #reaping: Entry | undefined;
  /** Children of its own that have ended, which init has not reaped yet. */
  #zombies: Process[] = [];
  #life: Life = {};
  readonly processes: Processes;
  readonly #rungs: SimRungs;
  /** The helpers that run, by id. */
  readonly #helpers = new Map<number, Process>();
  /** The row `first` of the orders is done. */
  #isFirstDone = false;
  /** The last command that init has stopped by itself. */
  #stopped = 0;
  #mainsEndMs: number | undefined;
  /** When init alone no longer waits for what the command has left behind. */
  #restAtMs: number | undefined;
  /** The last command that init has KILLed because the time was over. */
  #overdue = 0;
  /** When the next commit is to come, CLOCK_MONOTONIC. */
  dueMs: number | undefined;
  #orders: Orders;
  /** What supervisors do over the network. Ids count down from 0, and those of helpers up. */
  readonly #actions = new Map<number, (end: ActionEnd) => void>();
  #lastAction = 0;
  #lastHelper = 0;
  readonly #starts: Starts;
  readonly rows = new SimRows(this);
  readonly contacts = new SimContacts(
    () => this.world.parts,
    (path, errno) => this.brain?.hearContact(path, errno),
    () => this.wake('a handle'),
    (path) => this.rows.isWaitingFor(path),
  );
  readonly #ends: (() => void)[] = [];
  #vigil: Vigil | undefined;
  #isBinding = false;
  #isStarting = false;
  #hasCommitted = false;
  #nap: Nap | undefined;

  readonly #supervisorOf: SupervisorOf;

  /** `supervisorOf`: each that init starts, and what has woken it. */
  constructor(world: World, member: Member, supervisorOf: SupervisorOf = (...of) => new Brain(...of)) {
    this.world = world;
    this.member = member;
    this.#supervisorOf = supervisorOf;
    this.startedAtMs = world.agenda.monoMs;
    this.#orders = firstOrders(member.config, this.startedAtMs);
    this.starvedUntilMs = member.loss === 'cannot be started' ? NEVER : 0;
    this.#starts = new Starts(this.startedAtMs);
    this.order = world.containers.length;
    this.hostId = (0xa000 + world.containers.length * 0x9d7 + 1).toString(16).padStart(32, '0');
    this.processes = new Processes(
      { agenda: world.agenda, actor: this.actor },
      {
        ended: (process) => this.#onEnded(process),
        signal: (process, signal, by) => {
          if (world.isTold)
            world.tell(member.name, `${process.script.program ?? 'process'} ${process.pid} gets ${signal}`);
          world.laws.trees.signalled(this, process, signal, by);
        },
        adopted: (process) => world.laws.trees.adopted(this, process),
      },
    );
    this.#rungs = new SimRungs(
      this.processes,
      () => this.#theirs && { first: this.#theirs.first, hasExited: this.#theirs.exit !== undefined },
      () => world.agenda.monoMs,
    );
    this.#rungs.to = member.signalTo;
    // The supervisor.
    this.processes.startOwn();
    this.#host = new ScriptedHost(() => {
      this.#life = member.nextLife();
      const { errno, actions = {} } = this.#life;
      return errno === undefined ? { actions } : { actions, errno };
    });
    if (member.scenario.startsAtOnce) this.#spawn(1);
    this.#pump();
    this.#startBrain();
  }

  onEnd(then: () => void): void {
    this.#ends.push(then);
  }

  get command(): Command | undefined {
    return this.commands.at(-1);
  }

  /** One that has not said anything yet counts. */
  get hasSupervisor(): boolean {
    return this.brain !== undefined || this.#isStarting;
  }

  get isCommandAlive(): boolean {
    return this.command !== undefined && this.command.exit === undefined;
  }

  /** What its supervisor knows, or what the last one has left for the next. */
  get state(): State | undefined {
    return this.brain?.state ?? this.memo?.state;
  }

  /** Processes whose parent is init, but sexton's own. */
  get hasRoots(): boolean {
    return this.processes.childrenOf(INIT).some(({ isOwn }) => !isOwn);
  }

  get ageMs(): number {
    return this.world.agenda.monoMs - this.startedAtMs;
  }

  get sinceBrainMs(): number {
    return this.world.agenda.monoMs - this.#starts.sinceMs;
  }

  /** A signal to PID 1. */
  signal(signal: number): void {
    if (!this.isRunning) return;
    const { config } = this.member;
    if (config.stopSignals.includes(signal)) {
      this.asked.push({ atMs: this.world.agenda.nowMs, signal, wasAsleep: this.isAsleep });
      if (this.asked.length === 1) this.world.laws.lost.asked(this);
    }
    const isOpen = !this.#isFirstDone && oldestStop(this.#stopping) === undefined;
    const once = isOpen ? this.#routed('first', signal) : undefined;
    if (once !== undefined) this.#isFirstDone = true;
    const routed = once ?? this.#routed('each', signal);
    const as = routed ?? (this.isAlone && this.#theirs !== undefined ? this.#passesAlone(signal) : undefined);
    if (as === undefined) return this.push({ type: 'signal', signal, senderPid: 0, fromTerminal: false });
    const isStop = this.#orders.stopSignals.includes(signal);
    const receiverPid = this.#passOn(signal, as);
    const { id } = this.#orders;
    const row = once === undefined ? 'each' : 'first';
    this.push({ type: 'ordered', id, row, signal, as, senderPid: 0, receiverPid }, once !== undefined || isStop);
    this.#report();
  }

  /** The last command, until init has reported that no root of it is left. */
  get #theirs(): Command | undefined {
    return this.command?.areRootsGone === false ? this.command : undefined;
  }

  /** Returns the pid of the only process that a stop signal has reached so far. */
  #passOn(signal: number, as: number): number {
    if (this.#orders.stopSignals.includes(signal)) return this.#beginOwnRung(as);
    this.#recordSignal(as);
    this.#rungs.pass(as);
    return 0;
  }

  /** A rung in the place of the supervisor. */
  #beginOwnRung(signal: number): number {
    const { monoMs } = this.world.agenda;
    const endsMs = Math.min(endsAtMs(this.#stopping), monoMs + (rowOf(this.#orders, 'grace')?.ms ?? NEVER));
    const leftMs = endsMs - monoMs;
    this.#beginRung(
      signal,
      endsMs === NEVER ? {} : { lateMs: endsMs - leftMs / 3, lastMs: endsMs - Math.min(200, leftMs / 10) },
    );
    return this.#rungs.takeReceiver();
  }

  #beginRung(signal: number, times: { lateMs?: number | undefined; lastMs?: number | undefined } = {}): void {
    this.#recordSignal(signal);
    this.world.laws.trees.begins(this, signal, times);
    this.#rungs.begin(signal, times.lateMs, times.lastMs);
    this.#walkLater();
  }

  /** Init may have begun with this signal itself. */
  #continues(signal: number, times: { lateMs?: number | undefined; lastMs?: number | undefined }): boolean {
    if (this.#rungs.signal === signal) this.world.laws.trees.continues(this, times);
    const isUnderWay = this.#rungs.proceeds(signal, times.lateMs, times.lastMs);
    this.#walkLater();
    this.#report();
    return isUnderWay;
  }

  #walkLater(): void {
    const { agenda } = this.world;
    agenda.cancel(this.#walking);
    const { walkAtMs } = this.#rungs;
    if (walkAtMs === NEVER || !this.isRunning) return;
    this.#walking = agenda.at(Math.ceil(walkAtMs + agenda.bootAtMs), this.actor, () => this.#walk());
  }

  #walk(): void {
    this.#rungs.walk();
    this.#walkLater();
    this.#report();
  }

  /** What has been told since the last report. */
  #report(): void {
    const { command } = this;
    if (command === undefined || !this.isRunning) return;
    for (const told of this.#rungs.takeTold()) this.push({ type: 'told', id: command.id, ...told });
  }

  #routed(when: 'each' | 'first', signal: number): number | undefined {
    return this.#orders.id === this.#theirs?.id ? rowOf(this.#orders, when)?.table[signal] : undefined;
  }

  /** As what init alone passes a signal on; undefined: the first stop request has a time of its own. */
  #passesAlone(signal: number): number | undefined {
    const isStop = this.#orders.stopSignals.includes(signal);
    const isFirst = this.#stopped !== this.command?.id || oldestStop(this.#stopping) === undefined;
    return isStop && isFirst ? undefined : signal;
  }

  killCommand(oom: boolean): void {
    const { command } = this;
    if (command === undefined || command.exit !== undefined) return;
    this.#isOutOfMemory = oom;
    this.processes.end(command.first, { code: undefined, signal: SIGKILL });
  }

  /** At once, and init reaps it. */
  endCommand(exit: ChildExit): void {
    const { command } = this;
    if (command === undefined || command.exit !== undefined) return;
    this.processes.end(command.first, exit);
    this.#reap();
  }

  /** The kernel has ended the command because memory ran out, and init has not reaped it yet. */
  #isOutOfMemory = false;

  push(event: EventOf | EndWritten, isOnce = false, leastMs = 0): void {
    this.#seq += 1;
    const queued = { seq: this.#seq, atMs: this.now.mono, wall: this.now.wall, event, isOnce };
    this.queue.push(queued);
    this.brain?.awaken(leastMs);
    this.#wakeByEvent();
    this.#arm();
    this.#judgeIn(HANGS_AFTER_MS, queued);
    if (this.isAlone) this.#endWithMains();
  }

  get now(): Instant {
    return { mono: this.world.agenda.monoMs, wall: this.world.wallOf(this.member) };
  }

  /** As init reports it. */
  hostEventOf({ seq, atMs, wall, event }: Queued): HostEvent {
    const common = { seq, at: atMs, wall };
    if (event.type !== 'taskEnded') return { ...event, ...common } as HostEvent;
    const { id, ok, output } = event;
    return { ...common, type: 'helperEnded', id, code: ok ? 0 : 1, signal: undefined, errno: undefined, output };
  }

  /** `state`: what its memo is of. */
  commit({ ack, memo, commands }: Commit, state: State): void {
    if (this.isAlone) this.world.count('alone and back');
    this.isAlone = false;
    this.#hasCommitted = true;
    this.#starts.commit(this.world.agenda.monoMs);
    const text = memo ?? this.memo?.text;
    if (text !== undefined) this.memo = { text, state };
    if (ack !== undefined) this.queue = this.queue.filter(({ seq }) => seq > ack);
    this.rows.commit();
    for (const command of commands) this.#obey(command);
    this.#arm();
    this.#pump();
  }

  /** Runs this for the supervisor, in its process. */
  startAction(action: NetworkAction, { onEnd }: { readonly onEnd: (end: ActionEnd) => void }): RunningAction {
    this.#lastAction -= 1;
    const id = this.#lastAction;
    this.#actions.set(id, onEnd);
    this.#order({ type: 'startTask', id, action, timeoutMs: undefined });
    return { end: () => void this.#actions.delete(id), expire: () => this.#order({ type: 'endTask', id }) };
  }

  /** From now on remembers what changes. */
  #watch(command: WatchCommand): void {
    this.#vigil?.stop();
    this.contacts.hasFired = false;
    this.#vigil = new Vigil(this.world.parts, command, (why, name) => this.wake(why, name));
    this.brain?.watch(command);
  }

  /** Lets the supervisor go, if there is nothing that it does not know. */
  #sleep(): void {
    const { agenda, count } = this.world;
    comeBetween(this, 'sleep');
    const areRootsLeft = this.#theirs?.exit !== undefined || this.#rungs.walkAtMs < NEVER || this.#zombies.length > 0;
    const isDue = this.dueMs !== undefined && this.dueMs <= agenda.monoMs;
    const hasFired = this.#vigil?.fired !== undefined || !this.contacts.isCalm;
    if (this.queue.length > 0 || hasFired || areRootsLeft || isDue) {
      this.#vigil?.letGo();
      this.contacts.hasFired = false;
      return count('not let go to sleep');
    }
    count('asleep');
    this.world.tell(this.member.name, 'sleeps');
    const { volume } = this.world;
    const held = Object.entries(this.brain?.state.peers ?? {}).filter(([, { liveness }]) => liveness === 'held');
    this.world.laws.fallsAsleep(this);
    const holders = held.flatMap(([name]) => volume.sockets.get(name) ?? []);
    this.contacts.forgetLeft();
    this.#dropBrain();
    this.#starts.sleep();
    const { nowMs: sinceMs } = agenda;
    const { text: memo } = this.memo as SimMemo;
    this.#nap = { memo, files: new Map(volume.files), holders, dueMs: this.dueMs, sinceMs, seq: this.#seq };
    const nap = this.#nap;
    const wake = (): void => (this.#nap === nap ? this.wake('the time') : undefined);
    if (this.dueMs !== undefined) agenda.at(Math.ceil(this.dueMs + agenda.bootAtMs), this.actor, wake);
  }

  /** A supervisor runs that may act on what has happened. */
  get hasDecided(): boolean {
    return this.brain !== undefined && this.#hasCommitted;
  }

  get isAsleep(): boolean {
    return this.#nap !== undefined;
  }

  /** What is the prelude of a prepared end starts no supervisor, for a while. */
  #wakeByEvent(): void {
    const { agenda } = this.world;
    const untilMs = this.rows.preparedUntil(this.queue);
    if (untilMs === undefined || untilMs <= agenda.monoMs || this.rows.isUrgent) return this.wake('an event');
    const nap = this.#nap;
    agenda.in(1, this.actor, () => this.#endWithMains());
    agenda.at(Math.ceil(untilMs + agenda.bootAtMs), this.actor, () => {
      if (this.#nap === nap) this.wake('the patience of a prepared stop');
    });
  }

  /** `by`: the member whose file or handle changed. */
  wake(why: string, by?: string): void {
    const nap = this.#nap;
    if (nap === undefined || !this.isRunning) return;
    if (CHANGES.has(why) && !this.rows.isUrgent) {
      const waitsMs = this.queue.length > 0 ? NEVER : this.rows.noticeMs(nap.firedAtMs);
      if (waitsMs > 0) {
        nap.hasPassedOver = true;
        nap.firedAtMs ??= this.world.agenda.monoMs;
        this.world.count('change passed over in a prepared stop');
        if (waitsMs < NEVER) this.world.agenda.in(waitsMs, this.actor, () => this.#nap === nap && this.wake(why, by));
        return;
      }
    }
    this.#nap = undefined;
    this.#vigil?.stop();
    this.#vigil = undefined;
    this.contacts.hasFired = false;
    this.world.count(`woken by ${why}`);
    this.world.tell(this.member.name, `woken by ${why}`);
    this.world.laws.woken(this, nap, why, by);
    this.#startBrain(why);
  }

  /** A main has ended, if this init holds a connection to it. */
  hearOfMain(hostId: string, how: Notice): void {
    const { agenda, dice, volume } = this.world;
    if (!volume.canHoldSockets || !this.isRunning || !this.rows.isListening) return;
    agenda.in(dice.short(2), this.actor, () => {
      this.rows.hear(hostId, how);
      if (this.rows.isUrgent && this.queue.length > 0) this.wake('a handle');
      this.#endWithMains();
    });
  }

  #endWithMains(): void {
    if (!this.isCommandAlive || this.#stopped === this.command?.id || this.#hasBegun) return;
    const { lingersMs } = this.rows;
    if (lingersMs > 0) return void this.world.agenda.in(Math.ceil(lingersMs), this.actor, () => this.#endWithMains());
    const signal = this.rows.takeHold();
    if (signal !== undefined) this.world.laws.heldUntilMainsEnded(this);
    const sent = signal ?? this.rows.takeEnd();
    if (sent !== undefined) this.world.laws.endedWithMains(this);
    this.#sendStop(sent, 'mains');
  }

  #sendStop(signal: number | undefined, row: 'mains' | 'unheard' | 'lost'): void {
    const { command } = this;
    if (signal === undefined || command === undefined) return;
    this.#stopped = command.id;
    this.#mainsEndMs = undefined;
    if (row === 'mains' && oldestStop(this.#stopping) === undefined)
      this.#mainsEndMs = this.world.agenda.monoMs + (rowOf(this.#orders, 'mains-grace')?.ms ?? NEVER);
    const receiverPid = this.#beginOwnRung(signal);
    this.push({ type: 'ordered', id: command.id, row, signal: 0, as: signal, senderPid: 0, receiverPid });
    this.#report();
  }

  #listen(): void {
    const { dice, agenda } = this.world;
    this.#isBinding = true;
    agenda.in(dice.short(BINDING_MS), this.actor, () => this.#bind());
  }

  #bind(): void {
    this.#isBinding = false;
    this.world.volume.bind(this.member.name, this);
  }

  /** Its supervisor dies, and none can be started until then. */
  starve(untilMs: number): void {
    this.starvedUntilMs = Math.max(this.starvedUntilMs, untilMs);
    this.loseBrain();
  }

  /** The supervisor dies; what it has not committed is lost with it. */
  loseBrain(hangs = false): void {
    if (this.brain === undefined) return;
    this.#dropBrain();
    this.#vigil?.stop();
    this.#vigil = undefined;
    if (this.isRunning) this.#startNext(hangs);
  }

  /** No supervisor that comes will live on. */
  becomeLost(): void {
    if (this.member.loss === undefined || this.lostAtMs !== undefined || !this.isRunning) return;
    this.lostAtMs = this.world.agenda.nowMs;
    this.world.laws.lost.lost(this);
  }

  #dropBrain(): void {
    this.brain?.die();
    this.brain = undefined;
    this.contacts.leave();
    this.#host.loseSupervisor();
    this.#actions.clear();
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
    this.wasKilled = how === 'killed';
    this.world.laws.containerEnded(this, code, how);
    this.actor.isDead = true;
    this.processes.stop();
    this.brain?.die();
    this.brain = undefined;
    for (const then of this.#ends) then();
    const notice = how === 'left' ? 'ended' : 'gone';
    for (const other of this.world.containers) other.hearOfMain(this.hostId, notice);
    this.world.kubelet.hearOfExit(this, code, how);
  }

  #startBrain(wokenBy?: string): void {
    const { agenda } = this.world;
    const { bootMs } = this.member.scenario;
    this.#starts.begin(agenda.monoMs, wokenBy !== undefined);
    this.becomeLost();
    this.rows.expire(this.dueMs);
    this.dueMs = undefined;
    this.#isStarting = true;
    this.#hasCommitted = false;
    agenda.in(Math.ceil(bootMs / 2) + this.world.dice.int(bootMs), this.actor, () => {
      this.#isStarting = false;
      if (agenda.nowMs < this.starvedUntilMs) {
        this.world.count('supervisor not started');
        return this.#startNext(false);
      }
      this.brain = this.#supervisorOf(this.world, this, wokenBy);
      this.brain.doomByLoss();
      this.brain.start();
    });
  }

  #startNext(hangs: boolean): void {
    const { agenda } = this.world;
    const { inMs, isAlone } = this.#starts.end(agenda.monoMs, hangs, this.isAlone);
    this.becomeLost();
    if (isAlone && !this.isAlone) this.#goOnAlone();
    this.#arm();
    if (this.isRunning) agenda.in(inMs, this.actor, () => this.#startBrain());
  }

  #goOnAlone(): void {
    this.world.count('alone');
    this.isAlone = true;
    this.wasAlone = true;
    for (const { id } of this.memo?.state.tasks ?? []) this.#order({ type: 'endTask', id });
    if (this.command === undefined) return this.#leaveUnrecorded(125);
    this.queue = this.queue.map((queued): Queued => {
      const { event } = queued;
      // What waits as a stop request is the beginning of the grace period.
      if (event.type !== 'signal' || this.#orders.stopSignals.includes(event.signal)) return queued;
      if (this.#theirs === undefined) return queued;
      const { id } = this.#theirs;
      const as = this.#routed('each', event.signal) ?? event.signal;
      const receiverPid = this.#passOn(event.signal, as);
      const { signal } = event;
      return { ...queued, event: { type: 'ordered', id, row: 'each', signal, as, senderPid: 0, receiverPid } };
    });
    this.#leaveAlone();
    if (!this.isRunning) return;
    this.#endWithMains();
    this.#report();
  }

  /** As `exit_code` in `src/init/orders/orders.c`. */
  #exitCode(exit: ChildExit): number {
    const status = statusOf(exit);
    return rowOf(this.#orders, 'leave')?.isZero === true && status !== 128 + SIGKILL ? 0 : status;
  }

  #leaveUnrecorded(code: number): void {
    this.hasLeftUnrecorded = true;
    this.end(code, 'left');
  }

  /** A stop was acknowledged and waits, or is not acknowledged. */
  get isStopping(): boolean {
    return rowOf(this.#orders, 'lost') !== undefined || oldestStop(this.#stopping) !== undefined;
  }

  /** The supervisor has sent the stop signal. */
  get #hasBegun(): boolean {
    return rowOf(this.#orders, 'unheard') === undefined;
  }

  /** From a stop request to KILL, as far as init knows. */
  get graceMs(): number | undefined {
    return rowOf(this.#orders, 'grace')?.ms;
  }

  /** Init has sent the stop signal to this command by itself. */
  get isStoppedByInit(): boolean {
    return this.#stopped === this.command?.id;
  }

  /** When the grace period of a stop is over whose reason is that the mains have ended, CLOCK_MONOTONIC. */
  get mainsEndAtMs(): number | undefined {
    return this.isStoppedByInit ? this.#mainsEndMs : undefined;
  }

  get #stopping(): Stopping {
    return { orders: this.#orders, queue: this.queue, mainsEndMs: this.mainsEndAtMs };
  }

  get #lost(): Lost {
    const owesSinceMs = Math.min(this.dueMs ?? NEVER, this.queue[0]?.atMs ?? NEVER);
    const lostAtMs = this.#starts.lostAtMs(this.world.agenda.monoMs, owesSinceMs);
    const goneAtMs = this.#starts.goneAtMs(owesSinceMs);
    return { ...this.#stopping, goneAtMs, lostAtMs, hasFailed: this.#starts.hasFailed };
  }

  /** When init has to act by itself, or to look whether it has to. */
  #arm(): void {
    const { agenda } = this.world;
    agenda.cancel(this.#acting);
    const { command } = this;
    if (command === undefined || !this.isRunning) return;
    const stopping = this.#stopping;
    const hasTime = (['lost', 'deadline', 'leave'] as const).some((when) => rowOf(this.#orders, when) !== undefined);
    const hasEnd = hasTime || (stopping.mainsEndMs ?? this.#restAtMs) !== undefined;
    if (!hasEnd && oldestStop(stopping) === undefined) return;
    const lost = this.#lost;
    const isStoppable = command.exit === undefined && this.#stopped !== command.id;
    const times = [
      // A supervisor that owes a commit by then may have been lost long before.
      lost.goneAtMs > agenda.monoMs ? lost.goneAtMs : NEVER,
      isStoppable ? stopOf(lost).atMs : NEVER,
      this.#overdue === command.id ? NEVER : endsAtMs(stopping),
      command.diedAtMs === undefined ? NEVER : this.#leavesAtMs(command),
    ];
    const atMs = Math.min(...times);
    if (atMs < NEVER) this.#acting = agenda.at(Math.ceil(atMs + agenda.bootAtMs), this.actor, () => this.#act());
  }

  /** As in one turn of init's loop. */
  #act(): void {
    const { command } = this;
    const { monoMs } = this.world.agenda;
    if (command === undefined) return;
    const { atMs, signal, row } = stopOf(this.#lost);
    if (atMs <= monoMs && command.exit === undefined && this.#stopped !== command.id) {
      this.world.count('stop signal by init in place of its supervisor');
      this.#sendStop(signal, row);
    }
    if (endsAtMs(this.#stopping) <= monoMs && this.#overdue !== command.id) this.#killOverdue();
    const { exit } = command;
    if (exit !== undefined && this.#leavesAtMs(command) <= monoMs) {
      this.world.count('left after the grace period, without a supervisor');
      return this.#leaveUnrecorded(this.#exitCode(exit));
    }
    this.#arm();
  }

  /** It has KILLed the last command when the grace period was over, or by a ladder that begins with KILL. */
  get hasKilled(): boolean {
    const isByLadder = this.isStoppedByInit && this.member.config.ladder?.[0]?.signal === SIGKILL;
    return this.command !== undefined && (isByLadder || this.#overdue === this.command.id);
  }

  #killOverdue(): void {
    const { command, world } = this;
    if (command === undefined) return;
    this.#overdue = command.id;
    if (command.areRootsGone) return;
    if (command.exit === undefined) {
      world.count('KILL by init in place of its supervisor');
      world.laws.overdue(this);
      command.signals.push({ atMs: world.agenda.nowMs, signal: SIGKILL });
    }
    world.laws.trees.begins(this, SIGKILL, {});
    this.#rungs.begin(SIGKILL);
    this.#walkLater();
    const row = killRowOf(this.#stopping, world.agenda.monoMs);
    this.push({ type: 'ordered', id: command.id, row, signal: 0, as: SIGKILL, senderPid: 0, receiverPid: 0 });
  }

  /** A supervisor that misses the moment it named hangs. If init was frozen as well, it waits once more. */
  #expect(dueMs: number | undefined): void {
    const { agenda } = this.world;
    const owedMs = dueMs === undefined ? undefined : Math.max(dueMs, agenda.monoMs);
    this.dueMs = owedMs;
    if (owedMs === undefined) return;
    const { brain } = this;
    const judge = (sinceMs: number): void => {
      const lateMs = agenda.nowMs - sinceMs - HANGS_AFTER_MS;
      if (this.brain !== brain || brain === undefined || this.dueMs !== owedMs) return;
      if (lateMs > 0) return void agenda.in(HANGS_AFTER_MS, this.actor, () => judge(agenda.nowMs - HANGS_AFTER_MS));
      this.world.count('supervisor that was due killed');
      this.loseBrain(true);
    };
    const atMs = Math.ceil(owedMs + agenda.bootAtMs) + HANGS_AFTER_MS;
    agenda.at(atMs, this.actor, () => judge(atMs - HANGS_AFTER_MS));
  }

  /** A supervisor that takes no note of an event hangs; one that stood still with it, or is new, has time. */
  #judgeIn(ms: number, queued: Queued): void {
    const { agenda } = this.world;
    const atMs = agenda.nowMs + ms;
    agenda.at(atMs, this.actor, () => {
      if (!this.queue.some(({ seq }) => seq === queued.seq)) return;
      const leftMs = agenda.nowMs > atMs ? HANGS_AFTER_MS : HANGS_AFTER_MS - this.sinceBrainMs;
      if (this.brain === undefined || leftMs > 0) return this.#judgeIn(leftMs > 0 ? leftMs : HANGS_AFTER_MS, queued);
      this.world.count('hanging supervisor killed');
      this.loseBrain(true);
      this.#judgeIn(HANGS_AFTER_MS, queued);
    });
  }

  #obey(command: HostCommand): void {
    const { type } = command;
    if (type === 'spawn') this.#rungs.to = command.to;
    if (type === 'spawn') this.#spawn(command.id);
    if (type === 'kill') this.#kill(command.signal, command.id);
    if (type === 'stop') this.#stop(command);
    if (type === 'orders') {
      this.#orders = command;
      this.rows.replace(command);
      this.#isFirstDone = false;
    }
    if (type === 'exec') this.#startHelper(command.id, command.argv);
    if (type === 'endHelper') this.#order({ type: 'endTask', id: command.id });
    if (type === 'due') this.#expect(command.atMs);
    if (type === 'listen') this.#listen();
    if (type === 'watch') this.#watch(command);
    if (type === 'connections') this.contacts.order(command.paths);
    if (type === 'texts') this.rows.leaveTexts(command);
    if (type === 'sleep') this.#sleep();
    if (type === 'exit') this.end(command.code, 'left');
  }

  #kill(signal: number, id: number): void {
    if (id !== this.#theirs?.id) return;
    if (signal === SIGKILL) this.#beginRung(SIGKILL);
    else {
      this.#recordSignal(signal);
      this.#rungs.pass(signal);
    }
    this.#report();
  }

  #stop({ id, signal, ...times }: HostCommand & { readonly type: 'stop' }): void {
    if (id !== this.#theirs?.id) return;
    if (this.#continues(signal, times)) return this.world.count('signal not repeated');
    this.#beginRung(signal, times);
    this.#report();
  }

  #startHelper(id: number, argv: readonly [string, ...string[]]): void {
    if (id <= this.#lastHelper) return;
    this.#lastHelper = id;
    this.#helpers.set(id, this.processes.startOwn());
    this.#order({ type: 'startTask', id, action: { kind: 'exec', argv }, timeoutMs: undefined });
  }

  #spawn(id: number): void {
    if (id <= this.lastSpawned) return;
    if (oldestStop(this.#stopping) !== undefined) {
      this.world.count('start overtaken by a stop request');
      return this.push({ type: 'spawnFailed', id, errno: OVERTAKEN });
    }
    this.world.laws.spawning(this, id);
    this.lastSpawned = id;
    this.#order({ type: 'spawn', id });
    // Init says so in the same turn, before it reads a signal.
    this.#hearDue();
  }

  #order(effect: Parameters<ScriptedHost['obey']>[0]): void {
    this.#host.obey(effect, this.world.agenda.nowMs);
    this.#pump();
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
    if (event.type === 'taskEnded' && event.id < 0) return this.#endAction(event);
    if (event.type === 'taskEnded') this.#endHelper(event.id);
    if (event.type === 'spawnFailed') this.member.hasFailedStarts = true;
    if (event.type !== 'spawned') return this.push(event);
    const { id } = event;
    const first = this.processes.start(this.#life);
    this.commands.push({ id, bornAtMs: agenda.nowMs, areRootsGone: false, first, signals: [] });
    this.#rungs.reset();
    this.world.laws.trees.forget(this);
    this.push({ type: 'spawned', id, pid: first.pid });
  }

  #endHelper(id: number): void {
    const process = this.#helpers.get(id);
    if (process !== undefined) this.processes.end(process, { code: 0, signal: undefined });
    this.#helpers.delete(id);
  }

  #onEnded(process: Process): void {
    if (process.isOwn) return;
    this.#zombies.push(process);
    if (this.#zombies.length === 1) this.#reaping = this.world.agenda.in(0, this.actor, () => this.#reap());
  }

  /** One turn of init's loop, as `reap` in `src/init/main/reap.c`. */
  #reap(): void {
    const { command, world } = this;
    world.agenda.cancel(this.#reaping);
    const zombies = this.#zombies.splice(0);
    if (!this.isRunning || command === undefined || zombies.length === 0) return;
    for (const process of zombies) this.#rungs.forget(process);
    for (const process of zombies) world.laws.trees.reaped(this, process);
    const { exit } = command.first;
    if (exit !== undefined && zombies.includes(command.first)) this.#onExited(command, exit);
    if (!this.isRunning) return;
    this.#rungs.walk();
    this.#walkLater();
    if (command.exit !== undefined && !command.areRootsGone && this.#rungs.areRootsGone) {
      for (const { event } of this.queue) if (event.type === 'exited') this.rows.endByRow(event);
      if (!this.isRunning) return;
      command.areRootsGone = true;
      this.push({ type: 'rootsGone', id: command.id });
    }
    if (this.isAlone) this.#leaveAlone();
    this.#report();
  }

  /** Once the command has ended, and what it has left behind has had its stop signal and time. */
  #leaveAlone(): void {
    const { command } = this;
    if (command?.exit === undefined || !this.isRunning) return;
    if (command.areRootsGone || this.#leavesAtMs(command) <= this.world.agenda.monoMs)
      return this.#leaveUnrecorded(this.#exitCode(command.exit));
    if (this.#restAtMs !== undefined) return;
    this.#restAtMs = this.world.agenda.monoMs + REST_MS;
    this.world.count('what a command has left behind is stopped by init alone');
    const signal = this.#rungs.signal === 0 ? SIGTERM : this.#rungs.signal;
    if (!this.#continues(signal, {})) this.#beginRung(signal);
    this.#arm();
  }

  #leavesAtMs({ diedAtMs = NEVER, areRootsGone }: Command): number {
    if (this.isAlone && this.#restAtMs !== undefined) return this.#restAtMs;
    return leavesAtMs(this.#lost, diedAtMs - this.world.agenda.bootAtMs, areRootsGone);
  }

  #onExited(command: Command, exit: ChildExit): void {
    const oom = this.#isOutOfMemory;
    this.#isOutOfMemory = false;
    if (oom) this.oomKills += 1;
    command.exit = exit;
    command.diedAtMs = this.world.agenda.nowMs;
    this.world.laws.lost.ended(this);
    const { pid } = command.first;
    const event = { type: 'exited', id: command.id, pid, ...exit, core: false, oom } as const;
    const isWritten = this.#rungs.areRootsGone && this.rows.endByRow(event);
    if (!this.isRunning) return;
    if (!isWritten) return this.push(event);
    command.areRootsGone = true;
    const isRace = comeBetween(this, 'prepared end');
    this.push({ type: 'endWritten', id: command.id, pid, code: exit.code ?? 0 }, false, isRace ? RACE_MS : 0);
  }

  #endAction({ id, ok, detail, output }: EventOf & { type: 'taskEnded' }): void {
    const { actor = this.actor } = this.brain ?? {};
    this.world.agenda.in(0, actor, () => this.#actions.get(id)?.({ ok, detail, output }));
  }
}

/** What init does before any supervisor says: `begin_orders` in `src/init/orders/orders.c`. */
function firstOrders(config: Member['config'], startedAtMs: number): Orders {
  const now = { mono: startedAtMs, wall: '0' };
  const state = initialState({ hostId: '', bootId: '', startedAtMs, now, solo: config.solo });
  const orders = ordersOf(config, state);
  return { ...orders, rows: orders.rows.filter(({ when }) => when !== 'each') };
}
