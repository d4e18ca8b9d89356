/**
 * Sleep: while nothing is due the supervisor has the host let it go, and start another when something happens.
 *
 * It is a crash on purpose. The host keeps the memo and watches in place of the supervisor; the next one continues as
 * after any death. Nothing is missed in between: the host watches first, then the supervisor reads everything once more.
 * Only if nothing has changed does it ask to be let go, which the host does only if it has nothing new either.
 */
import type { MemberConfig } from '../../core/config.ts';
import type { State } from '../../core/state/state.ts';
import type { Clock, Timer } from '../clock.ts';
import type { WatchList } from '../graveyard/watch-list.ts';
import type { HostCommand } from '../host/host.ts';
import type { Log } from '../log/log.ts';
import type { Rest } from '../memo.ts';
import { MOST, nextTurn, withTimeout } from '../timeouts.ts';
import { whyAwakeByState, whyAwakeByTime } from './why-awake.ts';

export interface SleepWatch extends WatchList {
  readonly own: string;
}

export interface SleepPlace {
  /** What to watch during sleep, or why the supervisor must stay awake. */
  sleepWatch(): Promise<SleepWatch | string>;
  /** Resolves once the host watches, and everything was read again. */
  handOver(watch: SleepWatch): Promise<void>;
}

export interface SleeperOptions {
  readonly member: MemberConfig;
  /** So long nothing may have happened. */
  readonly afterMs: number;
  readonly log: Pick<Log, 'say' | 'flush' | 'isWriting'>;
  readonly clock: Clock;
  readonly state: () => State | undefined;
  readonly rest: () => Rest;
  /** undefined: solo, or not there yet. */
  readonly membership: () => SleepPlace | undefined;
  /** Gives the host what it needs to record an end of the command without a supervisor. */
  readonly prepare: () => Promise<void>;
  /** One commit, with the memo; `held` is for the memo from then on. */
  readonly commit: (commands: readonly HostCommand[], held?: Readonly<Record<string, string>>) => void;
}

export class Sleeper {
  readonly #options: SleeperOptions;
  #timer: Timer | undefined;
  #wakeAtMs: number | undefined;
  #events = 0;
  #isOpen = false;
  #attempt: Promise<void> | undefined;
  #said: string | undefined;

  constructor(options: SleeperOptions) {
    this.#options = options;
  }

  open(): void {
    this.#isOpen = true;
    this.#arm();
  }

  close(): void {
    this.#isOpen = false;
    this.#options.clock.timers.clearTimeout(this.#timer);
  }

  /** Something has happened; `wakeAtMs` is when the core is to be asked next. */
  stir(wakeAtMs: number | undefined): void {
    this.#events++;
    this.#wakeAtMs = wakeAtMs;
    if (this.#isOpen) this.#arm();
  }

  #arm(afterMs = this.#options.afterMs): void {
    const { timers } = this.#options.clock;
    timers.clearTimeout(this.#timer);
    this.#timer = timers.setTimeout(() => this.#tryToRest(afterMs), afterMs).unref();
  }

  /** One attempt at a time: the host watches only for the last one that asked, and another would miss the changes. */
  #tryToRest(afterMs: number): void {
    this.#arm(Math.max(AGAIN_PART * this.#options.afterMs, Math.min(2 * afterMs, LONGEST_RETRY_MS)));
    this.#attempt ??= this.#rest().finally(() => {
      this.#attempt = undefined;
    });
  }

  /** If the host does not let us go we live on, and try again later. */
  async #rest(): Promise<void> {
    const { log, commit, member, membership, prepare, clock } = this.#options;
    const events = this.#events;
    const isIdle = (): boolean => this.#isOpen && this.#events === events && this.#whyAwake() === undefined;
    const why = this.#whyAwake();
    if (why !== undefined) return this.#say(why);
    const place = membership();
    const watch = await place?.sleepWatch();
    if (typeof watch === 'string') return this.#say(watch);
    if ((watch === undefined && !member.solo) || !isIdle()) return;
    await prepare();
    if (watch !== undefined) {
      commit([], watch.held);
      if (await withTimeout(place?.handOver(watch) ?? Promise.resolve(), MOST.lookingMs, clock.timers)) return;
      // The effect of a changed handle is reported in the next turn.
      await nextTurn(clock.timers);
      const again = await place?.sleepWatch();
      if (JSON.stringify(again) !== JSON.stringify(watch) || !isIdle()) return;
    }
    log.say('debug', 'nothing is due: asleep until something happens');
    await log.flush(MOST.flushingMs);
    if (isIdle() && !log.isWriting) commit([{ type: 'sleep', path: watch?.own ?? '' }]);
  }

  #whyAwake(): string | undefined {
    const { member, afterMs, clock, state, rest } = this.#options;
    const known = state();
    if (known === undefined) return 'it is leaving';
    return whyAwakeByState(member, known) ?? whyAwakeByTime(this.#wakeAtMs, rest().wakes, clock.now().mono, afterMs);
  }

  /** Logs each reason once, until there is another one. */
  #say(why: string): void {
    if (why !== this.#said) this.#options.log.say('debug', `staying awake: ${why}`);
    this.#said = why;
  }
}

/** Not 1, so that attempts do not keep coinciding with the scans every 5 s, which prevent sleep. */
const AGAIN_PART = 1.3;
/** A short time is doubled up to this, because most of what an attempt waits for is an event, which comes by itself. */
const LONGEST_RETRY_MS = 1_000;
