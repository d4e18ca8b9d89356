/**
 * The actions that this process runs itself: probes and hooks that go over the network. Commands are the host's. What it takes is
 * loaded when the first one is run.
 */
import type { Effect } from '../core/events.ts';
import { timedOutAfter } from '../core/time.ts';
import type { ActionEnd, RunningAction } from './probes/probe.ts';

interface Entry {
  readonly timeoutMs: number | undefined;
  /** undefined: it has not begun yet. */
  readonly action?: RunningAction;
}

export class Actions {
  readonly #onEnd: (id: number, end: ActionEnd) => void;
  readonly #entries = new Map<number, Entry>();

  constructor(onEnd: (id: number, end: ActionEnd) => void) {
    this.#onEnd = onEnd;
  }

  obey(effect: Effect): void {
    if (effect.type === 'runAction') void this.run(effect);
    if (effect.type === 'endAction') this.end(effect.id);
  }

  async run({ id, action, timeoutMs }: Effect & { type: 'runAction' }): Promise<void> {
    if (action.kind === 'exec') return;
    this.#entries.set(id, { timeoutMs });
    const { startAction } = await import('./probes/probe.ts');
    // It may have been told to end meanwhile.
    if (!this.#entries.has(id)) return;
    const onEnd = (end: ActionEnd): void => {
      if (this.#entries.delete(id)) this.#onEnd(id, end);
    };
    const running = startAction(action, { timeoutMs, onEnd });
    if (this.#entries.has(id)) this.#entries.set(id, { timeoutMs, action: running });
  }

  /** Its end is told like any other, but never at once: whoever tells us is in the middle of an event. What has arrived still counts. */
  end(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    if (entry.action !== undefined) return entry.action.expire();
    this.#entries.delete(id);
    const detail = timedOutAfter(entry.timeoutMs ?? 0);
    setImmediate(() => this.#onEnd(id, { ok: false, detail, output: '' }));
  }

  endAll(): void {
    for (const { action } of this.#entries.values()) action?.end();
    this.#entries.clear();
  }
}
