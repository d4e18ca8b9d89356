/** Starts and losses of supervisors, as in `src/init/supervisor/supervisor.c`. CLOCK_MONOTONIC; infinity is never. */
const FAILED_START = 2;
const SHORT_LIFE = 1;
const HANG = 8;
const MOST_FAILURES = 10;
const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
const SOUND_LIFE_MS = 5_000;

export class Starts {
  /** The time of the last start. */
  sinceMs: number;
  /** The last sign of a supervisor that has proven to be sound. */
  #heardAtMs: number;
  #diedAtMs: number;
  #hasCommitted = false;
  #failures = 0;
  #delayMs = 0;

  constructor(nowMs: number) {
    this.sinceMs = nowMs;
    this.#heardAtMs = nowMs;
    this.#diedAtMs = nowMs;
  }

  begin(nowMs: number, wasWoken: boolean): void {
    this.sinceMs = nowMs;
    this.#hasCommitted = false;
    if (!wasWoken) return;
    this.#heardAtMs = nowMs;
    this.#diedAtMs = nowMs;
  }

  commit(nowMs: number): void {
    this.#hasCommitted = true;
    if (!this.#isSound(nowMs)) return;
    this.#forgiveFailures();
    this.#heardAtMs = nowMs;
  }

  sleep(): void {
    this.#hasCommitted = false;
    this.#forgiveFailures();
  }

  /** A supervisor has died. Returns when the next one is started, and whether init goes on alone until then. */
  end(nowMs: number, hangs: boolean, wasAlone: boolean): { readonly inMs: number; readonly isAlone: boolean } {
    if (this.#isSound(nowMs) && !hangs) {
      this.#forgiveFailures();
      this.#heardAtMs = nowMs;
    } else {
      const weight = hangs ? HANG : this.#hasCommitted ? SHORT_LIFE : FAILED_START;
      this.#failures += wasAlone ? 1 : weight;
    }
    if (this.#hasCommitted) this.#diedAtMs = nowMs;
    this.#hasCommitted = false;
    if (this.#failures >= MOST_FAILURES) {
      if (!wasAlone) this.#failures = MOST_FAILURES;
      const inMs = Math.min(LONGEST_PAUSE_MS, LONGEST_DELAY_MS * 2 ** (this.#failures - MOST_FAILURES));
      return { inMs, isAlone: true };
    }
    const inMs = this.#delayMs;
    this.#delayMs = Math.min(LONGEST_DELAY_MS, inMs === 0 ? FIRST_DELAY_MS : 2 * inMs);
    return { inMs, isAlone: false };
  }

  /** Those since a sound one have died too soon. */
  get hasFailed(): boolean {
    return this.#failures > 0;
  }

  /** Since when no supervisor acts. `owesSinceMs`: since when a commit is due. */
  goneAtMs(owesSinceMs: number): number {
    return this.#hasCommitted ? owesSinceMs : this.#diedAtMs;
  }

  /** Since when init has not heard from a sound supervisor. */
  lostAtMs(nowMs: number, owesSinceMs: number): number {
    const goneAtMs = this.goneAtMs(owesSinceMs);
    return goneAtMs === Number.POSITIVE_INFINITY || this.#isSound(nowMs) ? goneAtMs : this.#heardAtMs;
  }

  #forgiveFailures(): void {
    this.#failures = 0;
    this.#delayMs = 0;
  }

  #isSound(nowMs: number): boolean {
    return this.#hasCommitted && nowMs - this.sinceMs >= SOUND_LIFE_MS;
  }
}
