/**
 * When init starts the next supervisor: at once, then later and later, until one has lived and worked for a while.
 */
const FAILED_STARTS_MOST = 5;
const FIRST_DELAY_MS = 50;
export const LONGEST_DELAY_MS = 5_000;
const SOUND_LIFE_MS = 5_000;

export class Starts {
  #sinceMs = 0;
  #hasCommitted = false;
  #failed = 0;
  #delayMs = 0;

  /** Of the last start. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  begin(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#hasCommitted = false;
  }

  commit(): void {
    this.#hasCommitted = true;
    this.#failed = 0;
  }

  /** How long after the death of one that was there. */
  afterLife(nowMs: number): number {
    if (this.#hasCommitted && nowMs - this.#sinceMs >= SOUND_LIFE_MS) this.#delayMs = 0;
    return this.#next();
  }

  /** How long after one that died before its first commit; undefined: that was too often, and init goes on alone. */
  afterMiss(): number | undefined {
    this.#failed += 1;
    return this.#failed < FAILED_STARTS_MOST ? this.#next() : undefined;
  }

  #next(): number {
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(LONGEST_DELAY_MS, delayMs === 0 ? FIRST_DELAY_MS : 2 * delayMs);
    return delayMs;
  }
}
