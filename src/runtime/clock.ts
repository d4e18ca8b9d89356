/**
 * The clocks. Decisions use CLOCK_MONOTONIC; the wall clock is only for the record. Its nanoseconds come from the
 * monotonic clock, so the times of one supervisor are in order. They follow when the wall clock is set.
 */
import { readFileSync } from 'node:fs';
import type { Instant } from '../core/time.ts';

export interface Timer {
  unref(): Timer;
}

/** Timers and immediates by the names that Node gives them. */
export interface Timers {
  readonly performance: { now(): number };
  setTimeout(does: () => void, ms: number): Timer;
  setInterval(does: () => void, ms: number): Timer;
  clearTimeout(timer: Timer | undefined): void;
  setImmediate(does: () => void): unknown;
}

export const NODE_TIMERS = globalThis as Timers;

export interface Clock {
  readonly timers: Timers;
  now(): Instant;
}

export class SystemClock implements Clock {
  readonly timers = NODE_TIMERS;
  /** To the microsecond, so that the times of members of one pod can be compared. */
  #offset = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)) - process.hrtime.bigint();

  now(): Instant {
    const mono = process.hrtime.bigint();
    const wall = BigInt(Date.now()) * NS_PER_MS;
    const drift = wall - (mono + this.#offset);
    if (drift > MAX_DRIFT_NS || drift < -MAX_DRIFT_NS) this.#offset = wall - mono;
    return { mono: Number(mono) / 1e6, wall: (mono + this.#offset).toString() };
  }
}

const NS_PER_MS = 1_000_000n;
/** Date.now() counts whole milliseconds. */
const MAX_DRIFT_NS = 2n * NS_PER_MS;

/**
 * The kernel's boot id. CLOCK_MONOTONIC restarts at each boot, so its times compare only within one boot id.
 * Without one (not Linux) all tombstones count as written in this boot.
 */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
