/**
 * Calls to a process in another container of the pod.
 *
 * A start gate asks whether it is ready, by its own endpoint. Where nothing listens there may be nothing to wait for.
 *
 * The quit call asks it to leave, and sees whether it does: its port is closed when it has gone. Only the last of
 * several calls makes it leave. Those before prepare that, which is not worth more than a moment, and an older program
 * may not know them.
 */
import type { QuitAction, ReadyAction } from '../../core/config.ts';
import { attemptHttp } from './http.ts';
import { type Attempt, attemptTcp, NO_ANSWER, REFUSED, type Tell, type Verdict } from './tcp.ts';

export function attemptReady({ call, optional, hint }: ReadyAction, tell: Tell): Attempt {
  return attemptHttp(call, (ok, detail) => {
    if (detail === REFUSED && optional) return tell(true, 'nothing listens there');
    const isMissing = detail === REFUSED || detail === 'status 404';
    tell(ok, isMissing && hint !== undefined ? `${detail}; ${hint}` : detail);
  });
}

/** How often to look whether it has gone. */
const LOOK_MS = 100;
const MAX_PREPARING_MS = 1_000;
/** It ended before it had answered. */
const CUT_OFF: ReadonlySet<string> = new Set([NO_ANSWER, 'connection reset']);

export class QuitAttempt implements Attempt {
  readonly #action: QuitAction;
  readonly #tell: Tell;
  #current: Attempt | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** What it has answered to the last call; undefined: that has not been made yet. */
  #answer: string | undefined;
  /** Why the last look has shown nothing. */
  #trouble: string | undefined;

  constructor(action: QuitAction, tell: Tell) {
    this.#action = action;
    this.#tell = tell;
    this.#call(0);
  }

  get sofar(): Verdict | undefined {
    if (this.#answer === undefined) return undefined;
    const isOpen = ' and has not gone: its port is open, still or again';
    const found = this.#trouble === undefined ? isOpen : `, but whether it has gone cannot be seen: ${this.#trouble}`;
    return { ok: false, detail: `it was asked (${this.#answer})${found}` };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#current?.close();
  }

  #call(index: number): void {
    this.close();
    const { calls, absent, hint } = this.#action;
    const call = calls[index];
    if (call === undefined) return this.#look();
    const isLast = index === calls.length - 1;
    this.#current = attemptHttp(call, (ok, detail) => {
      this.close();
      const isAbsent = `nothing listened there${absent === undefined ? '' : `; if it runs all the same, ${absent}`}`;
      if (detail === REFUSED) return this.#tell(true, index === 0 ? isAbsent : 'it has gone');
      const remedy = detail === 'status 404' && hint !== undefined ? `; ${hint}` : '';
      if (isLast && !ok && !CUT_OFF.has(detail)) return this.#tell(false, `${call.path}: ${detail}${remedy}`);
      if (isLast) this.#answer = detail;
      this.#call(index + 1);
    });
    if (!isLast) this.#timer = setTimeout(() => this.#call(index + 1), MAX_PREPARING_MS);
  }

  #look(): void {
    this.#current = attemptTcp(this.#action.calls[0], (ok, detail) => {
      this.#current?.close();
      // Nothing else proves it: what is in our own way, such as too many open files, says nothing of the other side.
      if (detail === REFUSED) return this.#tell(true, 'it has gone');
      this.#trouble = ok ? undefined : detail;
      this.#timer = setTimeout(() => this.#look(), LOOK_MS);
    });
  }
}
