/**
 * The quit call: asks a process in another container of the pod to leave, and sees whether it does. Its port is closed
 * when it has gone; one that was closed before has no need to be asked.
 *
 * Of several calls only the last one makes it leave. What those before are to prepare is not worth more than a moment,
 * and an older program may not know them.
 */
import type { QuitAction } from '../../core/config.ts';
import type { Attempt, Tell } from './attempt.ts';
import { attemptHttp } from './http.ts';
import { attemptTcp } from './tcp.ts';

export function attemptQuit(action: QuitAction, tell: Tell): Attempt {
  return new QuitAttempt(action, tell);
}

/** How often it is looked whether it has gone. */
const LOOK_MS = 100;
const MAX_PREPARING_MS = 1_000;
const REFUSED = 'connection refused';
/** It ended before it had answered. */
const CUT_OFF: ReadonlySet<string> = new Set(['connection closed without an answer', 'connection reset']);

class QuitAttempt implements Attempt {
  readonly #action: QuitAction;
  readonly #tell: Tell;
  #current: Attempt | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** What it has answered to the last call; undefined: that has not been made yet. */
  #answer: string | undefined;
  /** Of the last look, if it has shown nothing. */
  #trouble: string | undefined;

  constructor(action: QuitAction, tell: Tell) {
    this.#action = action;
    this.#tell = tell;
    this.#call(0);
  }

  get sofar(): { ok: boolean; detail: string } | undefined {
    if (this.#answer === undefined) return undefined;
    const asked = `it was asked (${this.#answer})`;
    const detail =
      this.#trouble === undefined
        ? `${asked} and has not gone: its port is open, still or again`
        : `${asked}, but whether it has gone cannot be seen: ${this.#trouble}`;
    return { ok: false, detail };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#current?.close();
  }

  #call(index: number): void {
    this.close();
    const { calls } = this.#action;
    const call = calls[index];
    if (call === undefined) return this.#look();
    const isLast = index === calls.length - 1;
    this.#current = attemptHttp(call, (ok, detail) => {
      this.close();
      if (detail === REFUSED) return this.#tell(true, index === 0 ? this.#absentDetail() : 'it has gone');
      if (isLast && !ok && !CUT_OFF.has(detail)) return this.#refuse(call.path, detail);
      if (isLast) this.#answer = detail;
      this.#call(index + 1);
    });
    if (!isLast) this.#timer = setTimeout(() => this.#call(index + 1), MAX_PREPARING_MS);
  }

  #absentDetail(): string {
    const { absent } = this.#action;
    return `nothing listened there${absent === undefined ? '' : `; if it runs all the same, ${absent}`}`;
  }

  #refuse(path: string, detail: string): void {
    const { hint } = this.#action;
    this.#tell(false, `${path}: ${detail}${detail === 'status 404' && hint !== undefined ? `; ${hint}` : ''}`);
  }

  #look(): void {
    const { host, port } = this.#action.calls[0];
    this.#current = attemptTcp({ kind: 'tcp', host, port }, (ok, detail) => {
      this.#current?.close();
      // Nothing else proves it: what is in our own way, such as too many open files, says nothing of the other side.
      if (detail === REFUSED) return this.#tell(true, 'it has gone');
      this.#trouble = ok ? undefined : detail;
      this.#timer = setTimeout(() => this.#look(), LOOK_MS);
    });
  }
}
