/**
 * Sleep: while nothing is due the supervisor has the host let it go, and start another when something happens.
 *
 * It is a crash on purpose. The host keeps the memo and watches what the supervisor would have watched; the next one
 * goes on as after any death. In between lies no moment that nobody looks at: first the host is told what to watch, then
 * all is looked at once more, and only if that was no news the host is asked to let us go. It does so only if it has
 * nothing new either, and answers nothing if it has.
 */
import type { MemberConfig } from '../core/config.ts';
import { restartsOfOthers } from '../core/pod/restart.ts';
import { hasUnsurePeer } from '../core/pod/standing.ts';
import type { State } from '../core/state/state.ts';
import type { HostCommand } from './host/host.ts';
import type { Log } from './log.ts';
import type { Membership } from './membership.ts';
import type { Rest } from './memo.ts';
import { MOST, withTimeout } from './timeouts.ts';

export interface SleeperOptions {
  readonly member: MemberConfig;
  /** So long nothing may have happened. */
  readonly afterMs: number;
  readonly log: Log;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly state: () => State | undefined;
  readonly rest: () => Rest;
  /** undefined: solo, or not there yet. */
  readonly membership: () => Pick<Membership, 'sleepWatch' | 'handOver'> | undefined;
  /** What the host is to do about a stop while nobody is awake. */
  readonly prepareStop: () => readonly HostCommand[];
  /** One commit, with the memo; `held` is for the memo from then on. */
  readonly commit: (commands: readonly HostCommand[], held?: Readonly<Record<string, string>>) => void;
}

export class Sleeper {
  readonly #options: SleeperOptions;
  #timer: NodeJS.Timeout | undefined;
  #wakeAtMs: number | undefined;
  /** Rises with each event. */
  #events = 0;
  #isOpen = false;
  #attempt: Promise<void> | undefined;
  #hasComplained = false;

  constructor(options: SleeperOptions) {
    this.#options = options;
  }

  /** All is wired: from now on it may sleep. */
  open(): void {
    this.#isOpen = true;
    this.#arm();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
  }

  /** Something has happened; `wakeAtMs` is when the core is to be asked next. */
  stir(wakeAtMs: number | undefined): void {
    this.#events++;
    this.#wakeAtMs = wakeAtMs;
    if (this.#isOpen) this.#arm();
  }

  #arm(afterMs = this.#options.afterMs): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tryToRest(), afterMs).unref();
  }

  /**
   * One attempt at a time: the host watches for the last one that asked, and forgets what it watches when it does not let
   * us go. An attempt beside that one would then sleep through everything.
   */
  #tryToRest(): void {
    this.#arm(AGAIN_PART * this.#options.afterMs);
    this.#attempt ??= this.#rest().finally(() => {
      this.#attempt = undefined;
    });
  }

  /** If the host does not let us go we live on, and try again later. */
  async #rest(): Promise<void> {
    const { log, commit, member, membership, prepareStop } = this.#options;
    const events = this.#events;
    const isUndisturbed = (): boolean => this.#isOpen && this.#events === events && this.#mayRest();
    if (!isUndisturbed()) return;
    const place = membership();
    const watch = await place?.sleepWatch();
    if ((watch === undefined && !member.solo) || !isUndisturbed()) return;
    if (watch !== undefined) {
      commit([], watch.held);
      if (await withTimeout(place?.handOver(watch) ?? Promise.resolve(), MOST.lookingMs)) return;
      // What a change of a handle leads to is told in the next turn.
      await new Promise((resolve) => setImmediate(resolve));
      const again = await place?.sleepWatch();
      if (again === undefined || !isSame(again, watch) || !isUndisturbed()) return;
    }
    log.say('debug', 'nothing is due: asleep until something happens');
    await log.flush(MOST.flushingMs);
    const shown = watch === undefined ? [] : [{ type: 'asleepAt', path: watch.own } as const];
    if (isUndisturbed() && !log.isWriting) commit([...shown, ...prepareStop(), { type: 'sleep' }]);
  }

  #mayRest(): boolean {
    const { member, afterMs, now, state, rest } = this.#options;
    const known = state();
    if (known === undefined || !isAtRest(member, known)) return false;
    if (this.#wakeAtMs !== undefined && this.#wakeAtMs < now() + 2 * afterMs) return false;
    if (!isRestless(rest().wakes, now())) return true;
    if (!this.#hasComplained) this.#options.log.say('debug', 'woken too often: staying awake for half an hour');
    this.#hasComplained = true;
    return false;
  }
}

/** Whether this is a state in which only others, or the command, have anything to do. Of a member without probes. */
export function isAtRest(member: MemberConfig, state: State): boolean {
  const { child, stop, climb, failing, tasks } = state;
  const isWaiting = child.is === 'alive' || child.is === 'backoff' || child.is === 'unstarted';
  if (!isWaiting || stop !== undefined || climb !== undefined || failing !== undefined || tasks.length > 0)
    return false;
  // What is doubted now would be doubted anew after each wake.
  const isDoubted = hasUnsurePeer(member, state) || restartsOfOthers(member, state).untilMs !== undefined;
  return state.peers !== undefined && !isDoubted;
}

/** More than three wakes a minute for five minutes cost more than to stay: then half an hour is spent awake. */
export function isRestless(wakes: readonly number[], nowMs: number): boolean {
  const [first, last] = [wakes.at(-MAX_WAKES), wakes.at(-1)];
  return first !== undefined && last !== undefined && last - first <= LOOKED_AT_MS && nowMs - last < AWAKE_MS;
}

/** The wakes that are remembered. */
export function withWake(wakes: readonly number[], nowMs: number): readonly number[] {
  return [...wakes, Math.floor(nowMs)].slice(-MAX_WAKES);
}

const MAX_WAKES = 16;
/** Not in step with the looks at the graveyard, which come every 5 s: in the middle of one there is no sleep. */
const AGAIN_PART = 1.3;
const LOOKED_AT_MS = 300_000;
const AWAKE_MS = 1_800_000;

function isSame(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
