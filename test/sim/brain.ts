/**
 * One life of a supervisor: the real one, between a simulated init and a simulated graveyard. It may be killed between
 * any two things that it does. What goes on in it behind that reaches nothing, as all that it does goes through ports.
 */
import type { Reduction } from '../../src/core/state/draft.ts';
import type { Event } from '../../src/core/state/events.ts';
import { initialState, type State } from '../../src/core/state/state.ts';
import type {
  Commit,
  ContactNews,
  Hello,
  Host,
  HostEvent,
  HostNews,
  WatchCommand,
} from '../../src/runtime/host/host.ts';
import { Log } from '../../src/runtime/log/log.ts';
import type { Machine } from '../../src/runtime/machine.ts';
import { Membership } from '../../src/runtime/membership.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import type { Step } from '../core/life.ts';
import { SimAccess } from './access.ts';
import { type Actor, actor, freeze, isActing } from './agenda.ts';
import { clockOf } from './clock.ts';
import type { Container } from './container.ts';
import type { CrashPoint } from './scenario.ts';
import { trafficOf } from './seen-traffic.ts';
import type { World } from './world.ts';

const LOG = new Log({ level: 'silent', format: 'json', member: 'simulated' });
const PROGRAM = { fromIndex: 0, argv: ['command'] } as const;

export class Brain implements Host {
  readonly limits = [];
  readonly init = '/sexton-init';
  readonly actor: Actor;
  readonly access: SimAccess;
  /** What it knows, as the laws have seen it. */
  state: State;
  /** It is to die at this point, after so many more events. */
  doom: { point: CrashPoint; events: number; hangs?: boolean } | undefined;
  readonly #world: World;
  readonly #container: Container;
  readonly #supervisor: Supervisor;
  readonly #wokenBy: string | undefined;
  #onEvent: (event: HostEvent) => void = () => {};
  #onNews: (news: HostNews) => void = () => {};
  #seq = 0;
  #isAwakening = false;
  /** News about connections, on their way. */
  readonly #contactNews: ContactNews[] = [];

  constructor(world: World, container: Container, wokenBy: string | undefined) {
    this.#world = world;
    this.#container = container;
    this.#wokenBy = wokenBy;
    this.actor = actor(container.actor);
    const { config: member, sleepAfterMs } = container.member;
    const { bootId, agenda, dice, parts } = world;
    const clock = clockOf(agenda, this.actor, dice, () => world.wallOf(container.member));
    const { hostId, startedAtMs, memo } = container;
    const fresh = (): State => initialState({ hostId, bootId, startedAtMs, now: clock.now(), solo: member.solo });
    this.state = memo === undefined ? fresh() : { ...memo.state, peers: undefined, hasCaughtUp: false };
    this.access = new SimAccess(parts, member.name, this.actor, (tombstone) => {
      container.writtenAtMs ??= agenda.nowMs;
      world.laws.onTombstoneWritten(container, tombstone);
    });
    const log = LOG;
    const machine: Machine = {
      readOomKills: () => container.oomKills,
      loadActions: () => this.#takes(2, { startAction: (...how) => container.startAction(...how) }),
      loadTraffic: () => this.#takes(2, { TrafficWatch: trafficOf(world, this.actor) }),
    };
    const here = { dir: this.access.dir, volume: this.access, clock, makes: true, member, log };
    this.#supervisor = new Supervisor({
      member,
      program: PROGRAM,
      host: this,
      hostSetup: { signalTo: container.member.signalTo, commands: [] },
      clock,
      log,
      bootId,
      sleepAfterMs,
      machine,
      openMembership: async (before) => {
        this.access.hostConnect = before.hostConnect;
        const membership = new Membership(await this.#takes(3, { ...here, ...before }));
        return world.scenario.seed % 8 === 0 ? membership : withoutHistory(membership);
      },
      observe: (...step) => this.#see(...step),
    });
  }

  start(): void {
    void this.#supervisor.start();
  }

  async open(onEvent: (event: HostEvent) => void, onNews: (news: HostNews) => void): Promise<Hello> {
    this.#onEvent = onEvent;
    this.#onNews = onNews;
    const { hostId, startedAtMs: startedAt, memo } = this.#container;
    // The caller goes on first, then events flow.
    void DONE.then(() => {}).then(() => this.#hearAll());
    return { hostId, startedAt, memo: memo?.text, isPid1: true, wokenBy: this.#wokenBy, oomKills: 0, killed: 0 };
  }

  commit(commit: Commit): void {
    if (!this.isAble) return;
    this.#container.commit(commit, this.state);
    if (!this.isAble || this.#dies('before the write')) return;
    if (this.doom?.point === 'after') void DONE.then(() => this.isAble && this.#dies('after'));
  }

  async close(): Promise<void> {}

  die(): void {
    this.actor.isDead = true;
    this.access.stop();
  }

  /** Init has something to tell, at least so much later. */
  awaken(leastMs = 0): void {
    if (this.#isAwakening) return;
    this.#isAwakening = true;
    this.#world.agenda.in(leastMs + this.#world.dice.short(4), this.actor, () => {
      this.#isAwakening = false;
      this.#hearAll();
    });
  }

  /** Init watches at once, and answers later. */
  watch({ number }: WatchCommand): void {
    const { volume, dice, agenda } = this.#world;
    const { isThere } = volume;
    if (isThere) this.access.hear((names) => this.#onNews({ type: 'changed', names }));
    const errno = isThere ? undefined : 'ENOENT';
    agenda.in(dice.short(8), this.actor, () => this.#onNews({ type: 'watching', number, errno }));
  }

  /** In the order in which init has sent it. */
  hearContact(path: string, errno: string | undefined): void {
    this.#contactNews.push({ type: 'contact', path, errno });
    const lateMs = this.#world.dice.short(errno === 'EPIPE' ? CLOSING_MS : CONNECTED_MS);
    this.#world.agenda.in(lateMs, this.actor, () => {
      const news = this.#contactNews.shift();
      if (news !== undefined) this.#onNews(news);
    });
  }

  /** A supervisor that is lost dies, or hangs, right after its next commit. */
  doomByLoss(): void {
    const { loss } = this.#container.member;
    if (loss !== undefined) this.doom = { point: 'before the write', events: 1, hangs: loss === 'hangs' };
  }

  /** It neither has died nor hangs for ever. */
  get isAble(): boolean {
    return isActing(this.actor);
  }

  #hearAll(): void {
    for (const queued of this.#container.queue) {
      if (queued.seq <= this.#seq) continue;
      if (!this.isAble) return;
      this.#seq = queued.seq;
      this.#onEvent(this.#container.hostEventOf(queued));
    }
  }

  /** A dead supervisor goes on to the end of its turn, without any effect. */
  #see(before: State, event: Event, reduction: Reduction): void {
    const isSecond = event.type === 'rootsGone' && event.isWritten === true;
    if (!this.isAble || (!isSecond && this.#dies('before the commit'))) return;
    this.#world.reductions += 1;
    this.state = reduction.state;
    const step = { before, event, after: reduction.state, ...reduction };
    if (this.#world.isTold) this.#tell(step);
    this.#world.laws.stepped(this.#container, step);
  }

  /** In the words of the timeline. */
  #tell({ event, effects, before, after }: Step): void {
    const tell = (what: string): void => this.#world.tell(this.#container.member.name, what);
    if (event.type !== 'ticked') tell(`hears ${event.type}`);
    if (before.phase !== after.phase) tell(`is ${after.phase}`);
    for (const effect of effects) {
      if (effect.type === 'log') tell(`says: ${effect.message}`);
      else tell(`does ${effect.type} ${'signal' in effect ? effect.signal : ''}`);
    }
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

  #takes<T>(mostMs: number, result: T): Promise<T> {
    const { agenda, dice } = this.#world;
    return new Promise((resolve) => agenda.in(dice.short(mostMs), this.actor, () => resolve(result)));
  }
}

const DONE = Promise.resolve();
const CONNECTED_MS = 2;
/** Until the end of a connection is known. */
const CLOSING_MS = 34;
const NO_HISTORY = [] as const;

/** No member reads the history, which is most of the work of laying out and parsing: only some runs write it. */
function withoutHistory(membership: Membership): Membership {
  const publish = membership.publish.bind(membership);
  membership.publish = (tombstone) => publish({ ...tombstone, History: NO_HISTORY });
  return membership;
}
