/**
 * The quit call: asks a process in another container of the pod to leave, and sees whether it does. Its port is closed when it has
 * gone; one that was closed before has no need to be asked.
 */
import type { QuitAction } from '../../core/config.ts';
import { attemptHttp } from './http.ts';
import type { Attempt, Tell } from './probe.ts';
import { attemptTcp } from './tcp.ts';

export function attemptQuit(action: QuitAction, tell: Tell): Attempt {
  return new QuitAttempt(action, tell);
}

/** How often it is looked whether it has gone. */
const LOOK_MS = 100;
const REFUSED = 'connection refused';
/** It ended before it had answered. */
const CUT_OFF: ReadonlySet<string> = new Set(['connection closed without an answer', 'connection reset']);

class QuitAttempt implements Attempt {
  readonly #action: QuitAction;
  readonly #tell: Tell;
  #current: Attempt | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isAsked = false;
  /** Of the last look, if it has shown nothing. */
  #trouble: string | undefined;

  constructor(action: QuitAction, tell: Tell) {
    this.#action = action;
    this.#tell = tell;
    this.#call(0);
  }

  get sofar(): { ok: boolean; detail: string } | undefined {
    if (!this.#isAsked) return undefined;
    const detail =
      this.#trouble === undefined
        ? 'it was asked and has not gone: its port is still open'
        : `it was asked, but whether it has gone cannot be seen: ${this.#trouble}`;
    return { ok: false, detail };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#current?.close();
  }

  #call(index: number): void {
    const call = this.#action.calls[index];
    if (call === undefined) return this.#look();
    this.#current = attemptHttp(call, (ok, detail) => {
      this.#current?.close();
      if (detail === REFUSED) return this.#tell(true, index === 0 ? 'nobody was there' : 'it has gone');
      if (!ok && !CUT_OFF.has(detail)) return this.#refuse(call.path, detail);
      this.#call(index + 1);
    });
  }

  #refuse(path: string, detail: string): void {
    const { hint } = this.#action;
    this.#tell(false, `${path}: ${detail}${detail === 'status 404' && hint !== undefined ? `; ${hint}` : ''}`);
  }

  #look(): void {
    this.#isAsked = true;
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
