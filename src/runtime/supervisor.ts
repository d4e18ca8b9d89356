/**
 * The supervisor: one member's life, from the first frame of its host to the exit of its container.
 *
 * Theory of operation. Everything that happens becomes an event and goes through one queue, which is the event loop itself: an
 * event is reduced at once and to its end. What follows for the host (acknowledgement, memo, commands) is one commit, which
 * init applies whole or not at all; so whenever this process dies, init, the child and the memo agree on what has
 * been done, and the next supervisor goes on there. The tombstone and the log are projections: after a crash they are made again.
 *
 * The order is fixed: first the host is told (the application must not wait), then the tombstone is carved, then it is logged.
 * Only the exit waits for the carving, and not for ever.
 */
import type { MemberConfig } from '../core/config.ts';
import { hostKillAtMs } from '../core/deadline.ts';
import type { Event } from '../core/events.ts';
import { OVERTAKEN } from '../core/exit.ts';
import { reduce } from '../core/lifecycle.ts';
import type { PeerView } from '../core/peers.ts';
import { tombstoneOf } from '../core/record.ts';
import { SIGKILL } from '../core/signals.ts';
import { strangersAmong } from '../core/standing.ts';
import { initialState, type State } from '../core/state.ts';
import { instantAt } from '../core/time.ts';
import { Actions } from './actions.ts';
import type { Clock } from './clock.ts';
import { commandsOf, coreEventOf, fallbackOf, programOf, reasonOf } from './effects.ts';
import type { Ask } from './graveyard/inbox.ts';
import type { Host, HostCommand, HostEvent, Program } from './host/host.ts';
import type { HttpOptions } from './http.ts';
import { hasToLook, isLate, LATE_MS, LONGEST_TIMER_MS, MOST, mostCarvingMs } from './late.ts';
import type { Log } from './log.ts';
import { type Digests, readMemo, writeMemo } from './memo.ts';
import { readOomKills } from './oom.ts';
import type { Plot, PlotEvents } from './plot.ts';
import type { ActionEnd } from './probes/probe.ts';
import { rest } from './rest.ts';
import { Sides } from './sides.ts';
import { type TerminationLog, Testimony } from './termination-log.ts';
import { Traffic } from './traffic.ts';

export interface SupervisorOptions {
  readonly member: MemberConfig;
  readonly program: Program;
  readonly host: Host;
  /** What is asked of the host beside the lifecycle. */
  readonly wishes: { readonly single: boolean; readonly commands: readonly HostCommand[] };
  readonly clock: Clock;
  readonly log: Log;
  readonly bootId: string;
  /** The member's place in a graveyard, loaded once the application was started; undefined: solo. */
  readonly openPlot: (() => Promise<Plot>) | undefined;
  readonly http?: HttpOptions | undefined;
  readonly terminationLog?: TerminationLog | undefined;
}

const NOTHING_TOLD = { killAtMs: undefined, dueMs: undefined };

export class Supervisor {
  readonly #options: SupervisorOptions;
  #state: State | undefined;
  #memo = '';
  #isHeld = false;
  #plot: Plot | undefined;
  #timer: NodeJS.Timeout | undefined;
  #leaving = false;
  readonly #claimed = Promise.withResolvers<void>();
  readonly #actions: Actions;
  readonly #traffic: Traffic;
  #oomKills: number | undefined;
  readonly #sides: Sides;
  readonly #testimony: Testimony;
  #digests: Digests = {};
  /** What init knows of our plans. */
  #told: { readonly killAtMs: number | undefined; readonly dueMs: number | undefined } = NOTHING_TOLD;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#actions = new Actions((id, end) => this.#hearOfAction(id, end));
    this.#traffic = new Traffic(options, (event) => this.#dispatch(event));
    this.#testimony = new Testimony(options);
    const { member, http, log, clock } = options;
    const stateNow = (): State | undefined => this.#state && { ...this.#state, now: clock.now() };
    this.#sides = new Sides({ member, http, log, stateNow });
  }

  /** Resolves when all is wired; the rest is events. */
  async start(): Promise<void> {
    const { host, wishes, member, clock, log, openPlot, bootId } = this.#options;
    const hello = await host.open((event) => this.#hear(event));
    const { hostId, startedAt: startedAtMs, memo } = hello;
    const resumed = memo === undefined ? undefined : readMemo(memo, hostId);
    const now = clock.now();
    const state = resumed?.state ?? initialState({ hostId, bootId, startedAtMs, now, solo: member.solo });
    this.#state = member.solo ? { ...state, peers: {} } : state;
    this.#isHeld = resumed?.isHeld ?? false;
    this.#told = { ...NOTHING_TOLD, killAtMs: hostKillAtMs(state) };
    if (resumed !== undefined) log.say('warn', 'the supervisor was started again', { phase: state.phase });
    this.#oomKills = resumed === undefined ? readOomKills() : resumed.oomKills;
    this.#digests = resumed?.digests ?? {};
    // The host tells in this turn of the loop what was queued before we were there; only then may anything begin.
    await new Promise((resolve) => setImmediate(resolve));
    this.#dispatch({ type: 'booted', at: clock.now() }, undefined, [fallbackOf(member), ...wishes.commands]);
    for (const limit of host.limits) log.say('warn', limit);
    void this.#sides.answerHttp();
    const events: PlotEvents = {
      listen: (path) => this.#listen(path),
      peersSeen: (peers) => this.#meet(peers),
      stopAsked: (ask) => this.#askToStop(ask),
    };
    this.#claimed.resolve(openPlot === undefined ? undefined : this.#claim(openPlot, events));
    await Promise.all([log.open(), isLate(this.#claimed.promise, MOST.claimingMs)]);
    await this.#sides.watchFiles({ known: this.#digests, onContent: (...content) => this.#hearOfContent(...content) });
    // A member that is on its way out is not interested in the others any more.
    if (!this.#leaving) await this.#plot?.watch(events);
    rest();
  }

  async #claim(openPlot: () => Promise<Plot>, events: PlotEvents): Promise<void> {
    const plot = await openPlot();
    const generation = this.#state?.generation === undefined ? await plot.readGeneration() : undefined;
    // Before anything is carved, or looked at.
    if (generation !== undefined) this.#dispatch({ type: 'generationRead', at: this.#options.clock.now(), generation });
    this.#plot = plot;
    this.#carve();
    await plot.claim(events, this.#isHeld);
  }

  #hearOfContent(index: number, digest: string, isChange: boolean): void {
    this.#digests = { ...this.#digests, [index]: digest };
    // With what follows from the change in one commit, so that it is told once.
    if (isChange) this.#dispatch({ type: 'fileChanged', at: this.#options.clock.now(), index });
    else this.#commit(undefined, []);
  }

  #listen(path: string): void {
    this.#isHeld = true;
    this.#commit(undefined, [{ type: 'listen', path }]);
  }

  #meet(peers: readonly PeerView[]): void {
    const { clock, member } = this.#options;
    const isFirst = this.#state?.peers === undefined;
    this.#dispatch({ type: 'peersSeen', at: clock.now(), peers });
    if (!isFirst || this.#state === undefined) return;
    const foreign = strangersAmong(member, this.#state);
    if (foreign.length > 0) void this.#plot?.clear(foreign);
  }

  /** The time of the request counts, so that all who were asked together have the same deadline. */
  #askToStop({ atMs, graceMs, among }: Ask): void {
    const now = this.#options.clock.now();
    this.#dispatch({ type: 'stopAsked', at: instantAt(now, Math.min(atMs, now.mono)), graceMs, among });
  }

  #hear(event: HostEvent): void {
    if (event.type === 'spawnFailed' && event.errno !== OVERTAKEN) this.#complain(event.errno);
    const now = this.#options.clock.now();
    const at = instantAt(now, Math.min(event.at, now.mono));
    const program = this.#state && programOf(this.#options.member, this.#state, event);
    this.#dispatch(coreEventOf(event, at, this.#isOomKill(event), program), event.seq);
  }

  /** Whether the kernel has killed somebody of this container for want of memory since we last looked. */
  #isOomKill(event: HostEvent): boolean {
    if ((event.type !== 'exited' && event.type !== 'helperEnded') || event.signal !== SIGKILL) return false;
    const [before, now] = [this.#oomKills, readOomKills()];
    const isOom = before !== undefined && now !== undefined && now > before;
    // That of a helper is one; with the command all before it are done with.
    this.#oomKills = isOom && event.type === 'helperEnded' ? before + 1 : now;
    return isOom;
  }

  /** An action keeps its time itself: what it tells late it had in time, and only we were late to read it. */
  #hearOfAction(id: number, end: ActionEnd): void {
    const now = this.#options.clock.now();
    const untilMs = this.#state?.tasks.find((task) => task.id === id)?.untilMs ?? now.mono;
    this.#dispatch({ type: 'actionEnded', at: instantAt(now, Math.min(now.mono, untilMs)), id, ...end });
  }

  #complain(errno: string): void {
    const { program, log } = this.#options;
    log.say('error', `cannot start ${program.argv[0]}: ${reasonOf(errno)}`);
  }

  #dispatch(event: Event, ack?: number, also: readonly HostCommand[] = []): void {
    const { member, program, log, wishes } = this.#options;
    if (this.#state === undefined) throw new Error('internal error: an event before the hello');
    const { state, effects, wakeAtMs } = reduce(member, this.#state, event);
    this.#state = state;
    this.#commit(ack, [...also, ...commandsOf(effects, program, wishes.single), ...this.#promise(wakeAtMs)]);
    this.#carve();
    this.#testimony.follow(state);
    for (const effect of effects) {
      if (effect.type === 'log') log.say(effect.level, effect.message, effect.details);
      this.#actions.obey(effect);
      this.#traffic.obey(effect);
      if (effect.type === 'exitContainer') void this.#leave(effect.code);
    }
    this.#wakeAt(wakeAtMs);
  }

  /** One transaction: what is done with, what is known, what is to be done. */
  #commit(ack: number | undefined, commands: readonly HostCommand[]): void {
    if (this.#state === undefined) return;
    const [isHeld, oomKills, digests] = [this.#isHeld, this.#oomKills, this.#digests];
    const memo = writeMemo({ state: this.#state, isHeld, oomKills, digests });
    const isNews = memo !== this.#memo;
    if (ack === undefined && commands.length === 0 && !isNews) return;
    this.#options.host.commit({ ack, memo: isNews ? memo : undefined, commands });
    this.#memo = memo;
  }

  /** What init does should we not come to it: the KILL at the deadline, and another in our place. */
  #promise(dueMs: number | undefined): readonly HostCommand[] {
    const told = this.#told;
    const killAtMs = this.#state && hostKillAtMs(this.#state);
    this.#told = { killAtMs, dueMs: this.#leaving ? told.dueMs : dueMs };
    return [
      ...(killAtMs === told.killAtMs ? [] : [{ type: 'killAt', atMs: killAtMs } as const]),
      ...(this.#told.dueMs === told.dueMs ? [] : [{ type: 'due', atMs: this.#told.dueMs } as const]),
    ];
  }

  #carve(): void {
    if (this.#state !== undefined) this.#plot?.carve(tombstoneOf(this.#options.member, this.#state));
  }

  #wakeAt(wakeAtMs: number | undefined): void {
    clearTimeout(this.#timer);
    if (wakeAtMs === undefined || this.#leaving) return;
    const delay = Math.max(0, wakeAtMs - this.#options.clock.now().mono);
    // A timer may come a little early (they count whole milliseconds): one more turn then.
    this.#timer = setTimeout(() => void this.#wake(wakeAtMs), Math.min(Math.ceil(delay), LONGEST_TIMER_MS));
  }

  /**
   * After a pause of the machine the world is looked at, if that can be done, before anything is done that cannot be taken back; and
   * in a stop always: with little CPU word of a main that lives may be a second old and not read yet. A pause that ends just when something
   * is due shows only in that nothing was heard for so long.
   */
  async #wake(dueMs: number): Promise<void> {
    const { clock, member } = this.#options;
    const now = clock.now().mono;
    const isBlind = this.#state !== undefined && hasToLook(member, this.#state, now);
    const isLong = isBlind || now - dueMs > LATE_MS;
    if (isLong || this.#state?.stop !== undefined) {
      await isLate(Promise.resolve(this.#plot?.rescan()), isLong ? MOST.lookingMs : MOST.glancingMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#dispatch({ type: 'ticked', at: clock.now() });
  }

  async #leave(code: number): Promise<void> {
    const { log, clock } = this.#options;
    if (this.#leaving) return;
    this.#leaving = true;
    clearTimeout(this.#timer);
    this.#actions.endAll();
    this.#traffic.close();
    this.#sides.close();
    const testified = this.#testimony.end(this.#state);
    // A life that was over before its plot was opened is carved like any other.
    const mostMs = mostCarvingMs(this.#state?.deadline, clock.now().mono);
    this.#commit(undefined, [{ type: 'due', atMs: clock.now().mono + mostMs + LATE_MS }]);
    const carved = this.#claimed.promise.then(() => this.#plot?.settle());
    if (await isLate(carved, mostMs))
      log.say('error', 'the graveyard does not answer: leaving without the last tombstone');
    await testified;
    await log.close(MOST.flushingMs);
    this.#commit(undefined, [{ type: 'exit', code }]);
  }
}
