/**
 * Judges the connections that the counter tells of: whose they are, and so whether they count.
 *
 * Theory of operation. Each connection that was counted has either gone since, which the kernel tells
 * (`departures.ts`), or stands in the tables of sockets (`look.ts`). The counter is read again after either was asked,
 * so what was seen has been counted; of whatever is seen beyond that it is only now known that it was there before.
 * What nothing explains yet waits some turns and counts then, with the time at which it came. Word of what has gone
 * costs little, a look at long tables much: without looks the judgement takes longer, no more.
 *
 * A flood counts as a whole, and the kernel's word of departures is not read meanwhile. Afterwards it is not known
 * which connections are old (stale): once none from elsewhere ends any more a look tells, which the allowance has kept
 * back for that.
 */
import type { Departures } from './departures.ts';
import type { Looks, Sight } from './look.ts';

export interface JudgeOptions {
  /** The counter, as it is now. */
  readonly count: () => number;
  readonly departures: Departures;
  readonly looks: Looks;
  /** CLOCK_MONOTONIC milliseconds. */
  readonly now: () => number;
  /** What a supervisor before this one has counted. */
  readonly connections: number;
  readonly ignored: number;
}

type Seen = Pick<Sight, 'fresh' | 'ignored'>;

export class Judge {
  readonly #options: JudgeOptions;
  /** The counter as it was read last. */
  #count = 0;
  /** Came and is not judged yet. */
  #rise = NONE;
  /** Something was neither heard nor looked at: what is seen next may be old. */
  #isStale = true;
  /** Turns in which a look would have ended that, had it not cost too much. */
  #staleTurns = 0;
  /** Rises of so many in one turn go on as they were. */
  #flood = Number.POSITIVE_INFINITY;
  #floodTurns = 0;
  #lastMs: number;
  #connections: number;
  #ignored: number;
  #open: number | undefined;

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#lastMs = options.now();
    this.#connections = options.connections;
    this.#ignored = options.ignored;
  }

  /**
   * Resolves when it is known what is there already, or will not be. `cameMs`: so long has it been looked how many
   * come, `came` of them.
   */
  async start(came: number, cameMs: number): Promise<void> {
    const { departures, looks, count, now } = this.#options;
    const isFlood = came >= (FLOOD * cameMs) / TURN_MS;
    if (!isFlood) {
      await departures.ask(() => {});
      const sight = await looks.look();
      this.#open = sight?.open;
      this.#isStale = sight === undefined;
    }
    this.#count = count();
    looks.pace.restart();
    // What came before this moment is not known.
    this.#lastMs = now();
  }

  /** A step of the watch, TURN_MS after the one before. */
  async turn(): Promise<void> {
    const isWaiting = this.#rise.count > 0;
    const came = this.#read();
    if (isWaiting) this.#rise = { ...this.#rise, turns: this.#rise.turns + 1 };
    if (this.#isFlood(came)) return this.#skip();
    if (this.#rise.count > 0 || this.#isStale) await this.#judge(came);
  }

  /** How many connections that count are open. */
  async lookForOpen(): Promise<void> {
    const sight = await this.#options.looks.look(LOOKS_IN_HAND);
    if (sight === undefined) return;
    this.#read();
    this.#open = sight.open;
    this.#weigh(sight, true);
  }

  /** What is not judged yet counts as long as it is not. */
  get seen(): { lastMs: number; connections: number; ignored: number; open: number | undefined } {
    const { count, atMs } = this.#rise;
    const lastMs = count > 0 ? Math.max(this.#lastMs, atMs) : this.#lastMs;
    return { lastMs, connections: this.#connections + count, ignored: this.#ignored, open: this.#open };
  }

  /** Those that count for certain. */
  get judged(): number {
    return this.#connections;
  }

  /** How many have come since. */
  #read(): number {
    const { count, now } = this.#options;
    const counted = count();
    // It is a number of 64 bits, but a kernel may have been told to begin anew.
    const came = Math.max(0, counted - this.#count);
    this.#count = counted;
    // Which of them is not explained yet cannot be told, so all wait from the first one on, and the time is that of the
    // last one.
    if (came > 0) this.#rise = { ...this.#rise, count: this.#rise.count + came, atMs: now() };
    return came;
  }

  /** A smaller flood is looked into only now and then. */
  #isFlood(came: number): boolean {
    if (came >= FLOOD) return true;
    if (came < FEW || came < this.#flood / 2) return false;
    this.#floodTurns += 1;
    if (this.#floodTurns <= DEAF_TURNS) return true;
    this.#floodTurns = 0;
    return false;
  }

  #skip(): void {
    const { departures, looks } = this.#options;
    departures.pause();
    looks.forgetOwn();
    this.#isStale = true;
    this.#takeAll();
  }

  async #judge(came: number): Promise<void> {
    const { departures, looks } = this.#options;
    const departed = { fresh: 0, ignored: 0, open: 0, lines: 0 };
    const isWhole = await departures.ask((line) => looks.takeDeparted(line, departed));
    this.#read();
    const isHeard = isWhole || !departures.works;
    const before = this.#connections;
    if (this.#isStale) await this.#refresh(departed, isHeard);
    else if (departed.fresh > 0 || (isWhole && this.#rise.turns < TURNS_WITHOUT_LOOK)) this.#weigh(departed, isWhole);
    else await this.#look(departed, isWhole);
    const isTraffic = isHeard && this.#connections > before;
    this.#flood = isTraffic && came >= FEW ? came : Number.POSITIVE_INFINITY;
  }

  async #look(departed: Seen, isWhole: boolean): Promise<void> {
    const sight = await this.#options.looks.look(LOOKS_IN_HAND);
    this.#read();
    if (sight !== undefined) {
      this.#open = sight.open;
      return this.#weigh({ fresh: sight.fresh + departed.fresh, ignored: sight.ignored + departed.ignored }, true);
    }
    if (isWhole) return this.#weigh(departed, true);
    this.#isStale = true;
    this.#takeAll();
  }

  /** Finds out what is old, as soon as that may be of use. */
  async #refresh(departed: Seen, isHeard: boolean): Promise<void> {
    if (!isHeard || departed.fresh > 0) return this.#takeAll();
    const { departures, looks } = this.#options;
    const sight = await looks.look();
    this.#read();
    this.#staleTurns = sight === undefined ? this.#staleTurns + 1 : 0;
    // By now hardly any of those that were there before goes at just the moment at which another comes.
    this.#isStale = sight === undefined && !(departures.works && this.#staleTurns >= MAX_STALE_TURNS);
    this.#open = sight?.open ?? this.#open;
    const ignored = Math.min(departed.ignored, this.#rise.count);
    if (this.#isStale) this.#takeAll();
    else this.#add(this.#rise.count - ignored, ignored);
  }

  /** `isAll`: what has gone was told, or is on its way. */
  #weigh(seen: Seen, isAll: boolean): void {
    const { departures, looks } = this.#options;
    const { count, atMs, turns } = this.#rise;
    const fresh = Math.min(seen.fresh, count);
    const ignored = Math.min(seen.ignored, count - fresh);
    const own = looks.takeOwn(count - fresh - ignored);
    const missing = count - fresh - ignored - own;
    const isAwaited = departures.works && isAll && missing > 0 && turns < MAX_TURNS;
    this.#add(fresh + (isAwaited ? 0 : missing), ignored + own);
    if (isAwaited) this.#rise = { count: missing, atMs, turns };
  }

  #takeAll(): void {
    this.#add(this.#rise.count, 0);
  }

  /** All that has risen is judged by this. */
  #add(connections: number, ignored: number): void {
    this.#connections += connections;
    this.#ignored += ignored;
    if (connections > 0) this.#lastMs = Math.max(this.#lastMs, this.#rise.atMs);
    this.#rise = NONE;
  }
}

export const TURN_MS = 100;
/** `atMs`: when the counter was seen to have risen last; `turns`: so long has it not been explained. */
const NONE = { count: 0, atMs: 0, turns: 0 };
/** The kernel tells by a worker of its own, which may be late on a busy machine. */
const MAX_TURNS = 30;
/** Most have gone by then. */
const TURNS_WITHOUT_LOOK = 2;
/** One is kept for the end of a flood. */
const LOOKS_IN_HAND = 2;
const MAX_STALE_TURNS = 30;
/** So many in one turn are listened to in any case. */
const FEW = 5;
/** So many never are. */
const FLOOD = 100;
/** Of a lesser flood; then it is listened to for two: in the first one that begins. */
const DEAF_TURNS = 10;
