/**
 * Virtual time: what is to happen, when, and to which actor. Dice decide the order of what happens in one millisecond.
 *
 * An actor that was frozen, or the whole machine, does what was due meanwhile when it goes on. A dead one does nothing.
 */
import type { Dice } from './dice.ts';
import { settlePromises } from './microtasks.ts';

/** What an entry of the agenda belongs to: a container or a supervisor. */
export interface Actor {
  isDead: boolean;
  frozenUntilMs: number;
  /** What it runs in: dead or frozen with it. */
  readonly within: Actor | undefined;
}

export interface Entry {
  atMs: number;
  tie: number;
  readonly actor: Actor | undefined;
  does: (() => void) | undefined;
}

export function actor(within?: Actor): Actor {
  return { isDead: false, frozenUntilMs: 0, within };
}

/** When two freezes overlap, the later end counts. */
export function freeze(by: Actor | undefined, untilMs: number): void {
  if (by !== undefined) by.frozenUntilMs = Math.max(by.frozenUntilMs, untilMs);
}

export class Agenda {
  nowMs = 0;
  /** When CLOCK_MONOTONIC of this boot was 0. */
  bootAtMs: number;
  /** The machine stands still until then. */
  pausedUntilMs = 0;
  readonly #dice: Dice;
  readonly #heap: Entry[] = [];

  constructor(bootAtMs: number, dice: Dice) {
    this.bootAtMs = bootAtMs;
    this.#dice = dice;
  }

  get monoMs(): number {
    return this.nowMs - this.bootAtMs;
  }

  in(ms: number, by: Actor | undefined, does: () => void): Entry {
    return this.at(this.nowMs + ms, by, does);
  }

  at(atMs: number, by: Actor | undefined, does: () => void): Entry {
    const entry = { atMs: Math.max(atMs, this.nowMs), tie: this.#dice.int(0x4000_0000), actor: by, does };
    this.#push(entry);
    return entry;
  }

  cancel(entry: Entry | undefined): void {
    if (entry !== undefined) entry.does = undefined;
  }

  /** Does the next thing; false when there is none left until then. */
  step(untilMs: number): boolean {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.atMs > untilMs) return false;
      this.#pop();
      if (next.does === undefined || isDead(next.actor)) continue;
      const freeMs = Math.max(this.pausedUntilMs, frozenUntilMs(next.actor));
      if (freeMs > next.atMs) {
        next.atMs = freeMs;
        next.tie = this.#dice.int(0x4000_0000);
        this.#push(next);
        continue;
      }
      this.nowMs = next.atMs;
      next.does();
      settlePromises();
      return true;
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const above = heap[up] as Entry;
      if (!isBefore(entry, above)) break;
      heap[at] = above;
      at = up;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Entry;
    const { length } = heap;
    if (length === 0) return;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= length) break;
      if (down + 1 < length && isBefore(heap[down + 1] as Entry, heap[down] as Entry)) down += 1;
      if (!isBefore(heap[down] as Entry, last)) break;
      heap[at] = heap[down] as Entry;
      at = down;
    }
    heap[at] = last;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.tie < b.tie);
}

/** It is neither dead nor frozen for ever. */
export function isActing(by: Actor): boolean {
  return !isDead(by) && by.frozenUntilMs < Number.POSITIVE_INFINITY;
}

function isDead(by: Actor | undefined): boolean {
  return by !== undefined && (by.isDead || isDead(by.within));
}

function frozenUntilMs(by: Actor | undefined): number {
  return by === undefined ? 0 : Math.max(by.frozenUntilMs, frozenUntilMs(by.within));
}
