/**
 * Of the naive opinion: pre-stop, once in a life of the child.
 */
import { type Budget, isLastTurn } from './moments.ts';
import type { NaiveHook } from './plan.ts';

export class PreStop {
  readonly #declared: NaiveHook | undefined;
  #isOver: boolean;
  #endsAt = Number.POSITIVE_INFINITY;
  begunAt: number | undefined;

  constructor(declared: NaiveHook | undefined) {
    this.#declared = declared;
    this.#isOver = declared === undefined;
  }

  hear(now: number): void {
    if (now >= this.#endsAt) this.#isOver = true;
  }

  /** Begins it if need be; whether the ladder may begin. */
  isOver(budget: Budget | undefined, now: number, tell: (what: string) => void): boolean {
    if (this.#isOver) return true;
    const isFirst = this.begunAt === undefined;
    this.begunAt ??= now;
    if (isLastTurn(budget, now)) this.#isOver = true;
    if (this.#isOver || !isFirst) return this.#isOver;
    tell('pre-stop');
    this.#endsAt = now + (this.#declared?.takesMs ?? Number.POSITIVE_INFINITY);
    return false;
  }
}
