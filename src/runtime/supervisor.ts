/**
 * The supervisor: one member's life, from the first frame of its host to the exit of its container.
 *
 * Theory of operation. Everything that happens becomes an event and goes through one queue, which is the event loop. An
 * event is reduced at once and to its end. What follows for the host (acknowledgement, memo, commands) is one commit,
 * which init applies whole or not at all. So whenever this process dies, init, the child and the memo agree on what has
 * been done, and the next supervisor goes on there. The tombstone and the log are projections: after a crash they are
 * made again.
 *
 * The order is fixed: first comes the commit to the host (the application must not wait), then the tombstone, then the
 * log. Only the exit waits for the tombstone, and only for a bounded time.
 */
import type { HttpOptions, KeptConfig, Program, SignalTo, TerminationLog } from '../config/run-config.ts';
import type { MemberConfig } from '../core/config.ts';
import { endOf } from '../core/end-rows.ts';
import { type Observe, reduceAll } from '../core/lifecycle/lifecycle.ts';
import { maxWritingMs } from '../core/lifecycle/stop/quitting.ts';
import { tombstoneOf } from '../core/lifecycle/stop/record.ts';
import { ordersOf, wordsOf } from '../core/orders.ts';
import { leftoversOfOtherSessions } from '../core/pod/standing.ts';
import { SIGKILL } from '../core/signals.ts';
import type { Event } from '../core/state/events.ts';
import type { PeerView } from '../core/state/peer.ts';
import { initialState, type State } from '../core/state/state.ts';
import { type Instant, instantAt } from '../core/time.ts';
import type { Clock, Timer } from './clock.ts';
import { type Means, planOf } from './effects.ts';
import type { Ask } from './graveyard/inbox.ts';
import { Contacts } from './host/contacts.ts';
import type { Hello, Host, HostCommand, HostEvent } from './host/host.ts';
import { eventOf, programOf } from './host/host-events.ts';
import type { Log } from './log/log.ts';
import { TerminationLogWriter } from './log/termination-log.ts';
import type { Machine } from './machine.ts';
import type { Membership, MembershipEvents, MembershipOptions } from './membership.ts';
import { type Digests, RESTED, readMemo, writeMemo } from './memo.ts';
import { withOwnKills } from './oom.ts';
import { OptionalServices } from './optional-services.ts';
import { NetworkTasks } from './probes/network-tasks.ts';
import type { ActionEnd } from './probes/probe.ts';
import { OpenTexts } from './sleep/open-texts.ts';
import { Sleeper } from './sleep/sleeper.ts';
import { withWake } from './sleep/why-awake.ts';
import { LATE_MS, MAX_TIMER_MS, MOST, mustRescanFirst, nextTurn, withTimeout } from './timeouts.ts';
import { TrafficWatcher } from './traffic/traffic.ts';

export interface SupervisorOptions {
  readonly member: MemberConfig;
  readonly program: Program;
  readonly host: Host;
  /** What is asked of the host beside the lifecycle. */
  readonly hostSetup: { readonly signalTo: SignalTo; readonly commands: readonly HostCommand[] };
  readonly clock: Clock;
  readonly log: Log;
  readonly bootId: string;
  /** The member's place in a graveyard, loaded once the application was started; undefined: solo. */
  readonly openMembership: ((before: Before) => Promise<Membership>) | undefined;
  readonly config?: KeptConfig;
  /** What to log about the configuration, once in the life of the container. */
  readonly remarks?: Remarks;
  /** After so long without an event it may sleep; undefined: it never does, as something here has to answer or to look. */
  readonly sleepAfterMs?: number | undefined;
  readonly http?: HttpOptions | undefined;
  readonly terminationLog?: TerminationLog | undefined;
  /** Sends the end to a collector, within this many milliseconds; resolves with why it could not. */
  readonly sendTrace?: ((state: State, maxMs: number) => Promise<string | undefined>) | undefined;
  readonly machine: Machine;
  readonly observe?: Observe;
}

export interface Remarks {
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}

/** What the supervisor before this one has left. */
export type Before = Pick<MembershipOptions, 'heldBefore' | 'wasWoken' | 'hostConnect'>;

/** What goes with an event: its acknowledgement, and more commands. */
interface Turn {
  readonly ack?: number | undefined;
  readonly also?: readonly HostCommand[];
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  #state: State | undefined;
  #memo = '';
  #isHeld = false;
  #membership: Membership | undefined;
  #timer: Timer | undefined;
  #leaving = false;
  readonly #claimed = Promise.withResolvers<void>();
  readonly #means: Means;
  #oomKills: number | undefined;
  readonly #services: OptionalServices;
  readonly #terminationLog: TerminationLogWriter;
  #digests: Digests = {};
  #rest = RESTED;
  #wasWoken = false;
  readonly #sleeper: Sleeper | undefined;
  /** undefined: there is no init that could close them. */
  readonly #texts: OpenTexts | undefined;
  readonly #contacts: Contacts;
  #wakeAtMs: number | undefined;
  /** The last command of each kind that the host has got. */
  readonly #alarms = new Map([['due', '{"type":"due"}']]);

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#terminationLog = new TerminationLogWriter(options);
    const { member, http, log, clock, program, hostSetup, machine } = options;
    this.#means = {
      program,
      signalTo: hostSetup.signalTo,
      log,
      networkTasks: new NetworkTasks((id, end) => this.#onNetworkTaskEnded(id, end), machine.loadActions),
      traffic: new TrafficWatcher(options, (event) => this.#dispatch(event)),
      onExit: (code) => void this.#exit(code),
    };
    const stateNow = (): State | undefined => this.#state && { ...this.#state, now: clock.now() };
    this.#services = new OptionalServices({ member, http, log, stateNow });
    this.#sleeper = this.#makeSleeper();
    this.#contacts = new Contacts(clock, (command) => this.#commit(undefined, [command]));
    this.#texts = this.#makeTexts();
  }

  /** None without init. */
  #makeSleeper(): Sleeper | undefined {
    const { member, host, log, clock, sleepAfterMs } = this.#options;
    if (sleepAfterMs === undefined || host.init === undefined) return undefined;
    return new Sleeper({
      member,
      afterMs: sleepAfterMs,
      log,
      clock,
      state: () => (this.#leaving ? undefined : this.#state),
      rest: () => this.#rest,
      membership: () => this.#membership,
      prepare: async () => this.#texts?.leaveNow(),
      commit: (commands, held = this.#rest.held) => {
        this.#rest = { ...this.#rest, held };
        this.#commit(undefined, commands);
      },
    });
  }

  #makeTexts(): OpenTexts | undefined {
    const { member, host, log, terminationLog, clock } = this.#options;
    if (host.init === undefined) return undefined;
    return new OpenTexts({
      member,
      log,
      clock,
      terminationLog,
      tombstoneAt: async () => this.#membership?.whereWritten(),
      leave: (texts) => this.#commit(undefined, [texts, ...this.#newOrders()]),
    });
  }

  /** Resolves when all is wired; the rest is events. */
  async start(): Promise<void> {
    const { host, hostSetup, member, clock, log, openMembership, bootId, machine } = this.#options;
    const onEvent = (event: HostEvent): void => this.#onHostEvent(event);
    const contacts = this.#contacts;
    const hello = await host.open(onEvent, (news) =>
      news.type === 'contact' ? contacts.hear(news) : this.#membership?.hear(news),
    );
    const { hostId, startedAt: startedAtMs, memo, wokenBy } = hello;
    const resumed = memo === undefined ? undefined : readMemo(memo, hostId);
    const now = clock.now();
    const state = resumed?.state ?? initialState({ hostId, bootId, startedAtMs, now, solo: member.solo });
    this.#state = member.solo ? { ...state, peers: {} } : state;
    this.#isHeld = resumed?.isHeld ?? false;
    this.#rest = resumed?.rest ?? RESTED;
    this.#wasWoken = wokenBy !== undefined && resumed !== undefined;
    if (this.#wasWoken) this.#rest = { ...this.#rest, wakes: withWake(this.#rest.wakes, now.mono) };
    this.#remark(state, resumed !== undefined, hello);
    const known = resumed === undefined ? (hello.oomKills ?? machine.readOomKills()) : resumed.oomKills;
    // One that was woken need not read the count.
    this.#oomKills = hello.killed === 0 ? known : withOwnKills(known, hello.killed, machine.readOomKills());
    this.#digests = resumed?.digests ?? {};
    // The host tells in this turn of the loop what was queued before we were there; only then may anything begin.
    await nextTurn(clock.timers);
    this.#dispatch({ type: 'booted', at: clock.now() }, { also: hostSetup.commands });
    for (const limit of host.limits) log.say('warn', limit);
    void this.#services.answerHttp();
    const events: MembershipEvents = {
      listen: (path) => this.#listen(path),
      watch: host.init === undefined ? undefined : (command) => this.#commit(undefined, [command]),
      peersSeen: (peers) => this.#onPeersSeen(peers),
      stopAsked: (ask) => this.#onStopAsked(ask),
    };
    // Only our own program is loaded here, which may take long on little CPU. Without it the other members go unnoticed.
    const hostConnect = host.init === undefined ? undefined : (path: string) => contacts.connect(path);
    const before = { heldBefore: this.#rest.held, wasWoken: this.#wasWoken, hostConnect };
    const opened = openMembership?.(before).then((membership) => {
      this.#membership = membership;
      return membership;
    });
    this.#claimed.resolve(opened?.then((membership) => this.#claim(membership, events)));
    // A member that is on its way out is not interested in the others any more.
    const watch = async (others: Membership): Promise<void> => (this.#leaving ? undefined : others.watch(events));
    // One that was woken has its name, and looks at the others at once: it has something to do.
    const isSettled = this.#wasWoken && this.#isHeld;
    const looked = isSettled ? opened?.then(watch) : undefined;
    await Promise.all([opened, looked, withTimeout(this.#claimed.promise, MOST.claimingMs, clock.timers)]);
    await this.#services.watchFiles(this.#digests, (...content) => this.#onFileContent(...content));
    if (looked === undefined && this.#membership !== undefined) await watch(this.#membership);
    if (!this.#leaving) log.open();
    if (!this.#leaving) this.#sleeper?.open();
  }

  /** Only the first supervisor logs the remarks on the configuration. Later ones say only that they were started. */
  #remark(state: State, isResumed: boolean, { wokenBy, ended }: Hello): void {
    const { log, remarks } = this.#options;
    const { phase } = state;
    if (this.#wasWoken) return log.say('debug', 'awake again', { by: wokenBy, phase });
    if (isResumed) return log.say('warn', 'the supervisor was started again', { phase, ...(ended && { ended }) });
    for (const warning of remarks?.warnings ?? []) log.say('warn', warning);
    for (const note of remarks?.notes ?? []) log.say('info', note);
  }

  async #claim(membership: Membership, events: MembershipEvents): Promise<void> {
    const isUnread = this.#state?.generation === undefined && !this.#wasWoken;
    const generation = isUnread ? await membership.readGeneration() : undefined;
    // Before anything is written, or looked at.
    if (generation !== undefined) this.#dispatch({ type: 'generationRead', at: this.#options.clock.now(), generation });
    this.#publish();
    await membership.claim(events, this.#isHeld);
  }

  #onFileContent(index: number, digest: string, isChange: boolean): void {
    this.#digests = { ...this.#digests, [index]: digest };
    // The digest and what follows from the change are one commit, so that a change counts once.
    if (isChange) this.#dispatch({ type: 'fileChanged', at: this.#options.clock.now(), index });
    else this.#commit(undefined, []);
  }

  #listen(path: string): void {
    this.#isHeld = true;
    this.#commit(undefined, [{ type: 'listen', path }]);
  }

  #onPeersSeen(peers: readonly PeerView[]): void {
    const { clock, member } = this.#options;
    const isFirst = this.#state?.peers === undefined;
    this.#dispatch({ type: 'peersSeen', at: clock.now(), peers });
    if (!isFirst || this.#state === undefined) return;
    const foreign = leftoversOfOtherSessions(member, this.#state);
    if (foreign.length > 0) void this.#membership?.clear(foreign);
  }

  /** The time of the request counts, so that all who were asked together have the same deadline. */
  #onStopAsked({ atMs, graceMs, among, by, restart }: Ask): void {
    const now = this.#options.clock.now();
    if (restart !== undefined) {
      const ask = { requestedMs: atMs, by, graceMs, among, byRule: restart.byRule };
      return this.#dispatch({ type: 'restartAsked', at: now, ask });
    }
    this.#dispatch({ type: 'stopAsked', at: instantAt(now, Math.min(atMs, now.mono)), graceMs, among });
  }

  #onHostEvent(event: HostEvent): void {
    const { member, clock, program: asked } = this.#options;
    const now = clock.now();
    const at = instantAt(now, Math.min(event.at, now.mono));
    if (event.type === 'endWritten') return this.#onEndWritten(event, { ...at, wall: event.wall });
    const helper = this.#state && programOf(member, this.#state, event);
    const program = event.type === 'spawnFailed' ? asked.argv[0] : helper;
    this.#dispatch(eventOf(event, at, this.#isOomKill(event), program), { ack: event.seq });
  }

  #onEndWritten({ id, pid, seq, code }: HostEvent & { type: 'endWritten' }, at: Instant): void {
    this.#dispatch(endOf({ id, pid }, { at, how: code }, true), { ack: seq });
  }

  /** Whether the kernel has killed a process of this container for want of memory since this was asked last. */
  #isOomKill(event: HostEvent): boolean {
    if ((event.type !== 'exited' && event.type !== 'helperEnded') || event.signal !== SIGKILL) return false;
    const [before, now] = [this.#oomKills, this.#options.machine.readOomKills()];
    const isOom = before !== undefined && now !== undefined && now > before;
    // That of a helper is one; with the command all before it are done with.
    this.#oomKills = isOom && event.type === 'helperEnded' ? before + 1 : now;
    return isOom;
  }

  /** An action keeps its time itself: what it tells late it had in time, and only we were late to read it. */
  #onNetworkTaskEnded(id: number, end: ActionEnd): void {
    const now = this.#options.clock.now();
    const untilMs = this.#state?.tasks.find((task) => task.id === id)?.untilMs ?? now.mono;
    this.#dispatch({ type: 'taskEnded', at: instantAt(now, Math.min(now.mono, untilMs)), id, ...end });
  }

  #dispatch(events: Event | readonly Event[], { ack, also = [] }: Turn = {}): void {
    const { member, observe } = this.#options;
    if (this.#state === undefined) throw new Error('internal error: an event before the hello');
    const { state, effects, wakeAtMs } = reduceAll(member, this.#state, [events].flat(), observe);
    this.#state = state;
    const { commands, afterCommit } = planOf(effects, this.#means);
    this.#wakeAtMs = wakeAtMs;
    this.#texts?.follow(state, wakeAtMs);
    this.#commit(ack, [...also, ...this.#newOrders(), ...this.#newDue(), ...commands]);
    this.#publish();
    this.#terminationLog.follow(state);
    for (const step of afterCommit) step();
    this.#wakeAt(wakeAtMs);
    this.#sleeper?.stir(wakeAtMs);
  }

  /** One transaction: what is done with, what is known, what is to be done. */
  #commit(ack: number | undefined, commands: readonly HostCommand[]): void {
    if (this.#state === undefined) return;
    const [isHeld, oomKills, digests, rest] = [this.#isHeld, this.#oomKills, this.#digests, this.#rest];
    const memo = writeMemo({ state: this.#state, isHeld, oomKills, digests, rest, config: this.#options.config });
    const isNews = memo !== this.#memo;
    if (ack === undefined && commands.length === 0 && !isNews) return;
    this.#options.host.commit({ ack, memo: isNews ? memo : undefined, commands });
    this.#memo = memo;
  }

  /** Returns the command `orders` if the orders have changed. */
  #newOrders(): readonly HostCommand[] {
    const { member, log, sendTrace } = this.#options;
    if (this.#state === undefined) return [];
    const isLeft = this.#texts?.isLeft === true;
    const needsSupervisor = sendTrace !== undefined || this.#texts?.isBlocked === true;
    const socketOf = (name: string): string | undefined => {
      const path = this.#membership?.socketOf(name);
      return path !== undefined && this.#contacts.isHeld(path) ? path : undefined;
    };
    const texts = isLeft ? { untilMs: this.#wakeAtMs, needsSupervisor } : undefined;
    const orders = { type: 'orders', ...ordersOf(member, this.#state, { socketOf, texts }) } as const;
    if (!this.#isNews(orders)) return [];
    if (log.shows('debug')) log.say('debug', 'orders', { orders: wordsOf(orders, this.#state.now.mono) });
    return [orders];
  }

  /** Returns the command `due` if that time has changed; after it the host replaces us. */
  #newDue(): readonly HostCommand[] {
    const due = { type: 'due', atMs: this.#wakeAtMs } as const;
    return this.#leaving || !this.#isNews(due) ? [] : [due];
  }

  #isNews(command: HostCommand): boolean {
    const text = JSON.stringify(command);
    const isNews = this.#alarms.get(command.type) !== text;
    this.#alarms.set(command.type, text);
    return isNews;
  }

  #publish(): void {
    if (this.#state !== undefined) this.#membership?.publish(tombstoneOf(this.#options.member, this.#state));
  }

  #wakeAt(wakeAtMs: number | undefined): void {
    const { timers } = this.#options.clock;
    timers.clearTimeout(this.#timer);
    if (wakeAtMs === undefined || this.#leaving) return;
    const delay = Math.max(0, wakeAtMs - this.#options.clock.now().mono);
    // A timer may come a little early (they count whole milliseconds): one more turn then.
    this.#timer = timers.setTimeout(() => void this.#onTimer(wakeAtMs), Math.min(Math.ceil(delay), MAX_TIMER_MS));
  }

  /**
   * After a pause of the machine it looks at the other members, if it can, before it does what cannot be undone. In a
   * stop it always looks: with little CPU, the report of a living main may be a second old and not read yet. A pause
   * that ends just when something is due shows only in that nothing was heard for so long.
   */
  async #onTimer(dueMs: number): Promise<void> {
    const { clock, member } = this.#options;
    const now = clock.now().mono;
    const isBlind = this.#state !== undefined && mustRescanFirst(member, this.#state, now);
    const isLong = isBlind || now - dueMs > LATE_MS;
    if (isLong || this.#state?.stop !== undefined) {
      const rescanned = Promise.resolve(this.#membership?.rescan());
      await withTimeout(rescanned, isLong ? MOST.lookingMs : MOST.glancingMs, clock.timers);
      await nextTurn(clock.timers);
    }
    this.#dispatch({ type: 'ticked', at: clock.now() });
  }

  async #exit(code: number): Promise<void> {
    const { log, clock } = this.#options;
    if (this.#leaving) return;
    this.#leaving = true;
    this.#sleeper?.close();
    clock.timers.clearTimeout(this.#timer);
    this.#means.networkTasks.endAll();
    this.#means.traffic.close();
    this.#services.close();
    const evidenceWritten = this.#terminationLog.end(this.#state);
    const traced = this.#trace();
    // A life that was over before its membership was opened is written like any other.
    const mostMs = maxWritingMs(this.#state?.deadline, clock.now().mono);
    this.#commit(undefined, [{ type: 'due', atMs: clock.now().mono + mostMs + LATE_MS }]);
    const written = this.#claimed.promise.then(() => this.#membership?.settle());
    if (await withTimeout(written, mostMs, clock.timers))
      log.say('error', 'the graveyard does not answer: exiting without writing the last tombstone');
    await evidenceWritten;
    await traced;
    await log.flush(MOST.flushingMs);
    this.#commit(undefined, [{ type: 'exit', code }]);
  }

  /** Beside the tombstone, and never past the deadline: a trace is worth less than an end in time. */
  async #trace(): Promise<void> {
    const { sendTrace, clock, log } = this.#options;
    if (sendTrace === undefined || this.#state === undefined) return;
    const { deadline } = this.#state;
    const leftMs = deadline === undefined ? MOST.tracingMs : deadline.atMs - TRACED_AHEAD_MS - clock.now().mono;
    // A timer takes whole milliseconds only.
    const maxMs = Math.floor(Math.min(leftMs, MOST.tracingMs));
    const why = maxMs > 0 ? await sendTrace(this.#state, maxMs) : 'the deadline is near';
    if (why !== undefined) log.say('warn', `the trace was not delivered: ${why}`);
  }
}

/** What the rest of the way out takes at most. */
const TRACED_AHEAD_MS = 100;
