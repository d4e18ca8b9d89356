/**
 * How much CPU time looks at the tables of sockets may take. The share is 0.4 % of one core, with something in hand for
 * the first look and the moment when a flood has ended. What a look would cost is known from its lines, by the looks
 * before.
 */
export class Allowance {
  readonly #mostMs: number;
  #leftMs: number;
  #atMs: number;
  #msPerLine = FIRST_MS_PER_LINE;

  constructor(longestMs: number, nowMs: number) {
    this.#mostMs = Math.min(MAX_IN_HAND_MS, Math.max(LEAST_IN_HAND_MS, longestMs * IN_HAND));
    this.#leftMs = this.#mostMs;
    this.#atMs = nowMs;
  }

  /** Whether so many looks at so many lines are within it. */
  has(looks: number, lines: number, nowMs: number): boolean {
    this.#leftMs = Math.min(this.#mostMs, this.#leftMs + (nowMs - this.#atMs) * SHARE);
    this.#atMs = nowMs;
    return looks * (BASE_MS + lines * this.#msPerLine) <= this.#leftMs;
  }

  spend(ms: number, lines: number): void {
    this.#leftMs -= ms;
    // The rest of the process works too, so of a few lines nothing can be learned.
    if (lines >= ENOUGH_LINES) this.#msPerLine = Math.max(LEAST_MS_PER_LINE, ms / lines);
  }
}

const SHARE = 0.004;
const IN_HAND = 0.004;
const LEAST_IN_HAND_MS = 50;
const MAX_IN_HAND_MS = 200;
const BASE_MS = 0.5;
const FIRST_MS_PER_LINE = 0.002;
const LEAST_MS_PER_LINE = 0.000_5;
const ENOUGH_LINES = 500;
